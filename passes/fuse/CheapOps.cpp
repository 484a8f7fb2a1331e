// SPDX-License-Identifier: Apache-2.0
// A normalization's (x - mean) * scale is the example: whoever reads it reads x
// instead, in a low type if x is, and nothing is written.
#include "passes/fuse/CheapOps.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

/// An operand so much smaller than the result costs no memory traffic; an op of
/// more instructions is not cheap.
constexpr int64_t kSmall = 16;
constexpr size_t kFewInstructions = 4;

/// Emits the op's scalar on the side and looks at it.
bool hasFewInstructions(Operation *op) {
  MLIRContext *context = op->getContext();
  context->getOrLoadDialect<arith::ArithDialect>();
  Block scratch;
  OpBuilder b(context);
  b.setInsertionPointToEnd(&scratch);
  ScalarBuilder s(b, op->getLoc());
  SmallVector<Value> operands;
  for (size_t i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(scratch.addArgument(b.getF32Type(), op->getLoc()));
  cast<ScalarOpInterface>(op).emitScalar(s, operands);
  size_t instructions = 0;
  for (Operation &step : scratch) {
    if (isa<arith::ConstantOp>(step))
      continue;
    if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::CmpFOp, arith::SelectOp>(step))
      return false;
    ++instructions;
  }
  return instructions <= kFewInstructions;
}

bool isFloat(Value v) { return isa<FloatType>(elementTypeOf(v)); }

} // namespace

bool isCheaperThanItsResult(Operation *op) {
  auto origin = op->getAttrOfType<StringAttr>(kOrigin);
  if (!isa<ScalarOpInterface>(op) || op->getNumResults() != 1 ||
      (origin && origin.getValue() == "optimizer") ||
      !isFloat(op->getResult(0)) || !llvm::all_of(op->getOperands(), isFloat))
    return false;
  Value result = op->getResult(0);
  int64_t size = numElements(shapeOf(result));
  llvm::SmallPtrSet<void *, 2> large;
  for (Value v : op->getOperands()) {
    if (numElements(shapeOf(v)) * kSmall <= size)
      continue;
    large.insert(v.getAsOpaquePointer());
    if (numElements(shapeOf(v)) > size ||
        elementTypeOf(v).getIntOrFloatBitWidth() >
            elementTypeOf(result).getIntOrFloatBitWidth())
      return false;
  }
  return large.size() == 1 && hasFewInstructions(op);
}

} // namespace halftone::passes
