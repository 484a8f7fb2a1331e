// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/LowerComposites.h"
#include "compiler/graph/Cleanup.h"
#include "compiler/graph/Decompose.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

Type withElement(Type type, Type element) {
  return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                               element);
}

bool isNarrowFloat(Type type) {
  auto element =
      dyn_cast<FloatType>(cast<RankedTensorType>(type).getElementType());
  return element && element.getWidth() < 32;
}

/// Puts casts around an op so that its own operands and results are f32.
void widen(Operation *op) {
  OriginTagger tagger(llvm::to_vector(op->getDiscardableAttrs()));
  OpBuilder before(op, &tagger);
  Type f32 = before.getF32Type();
  for (OpOperand &operand : op->getOpOperands())
    if (isNarrowFloat(operand.get().getType()))
      operand.set(before.create<CastOp>(op->getLoc(), operand.get(), f32));
  OpBuilder after(op->getContext(), &tagger);
  after.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    Type narrow = result.getType();
    if (!isNarrowFloat(narrow))
      continue;
    result.setType(cast<RankedTensorType>(withElement(narrow, f32)));
    auto cast = after.create<CastOp>(
        op->getLoc(), result,
        mlir::cast<RankedTensorType>(narrow).getElementType());
    result.replaceAllUsesExcept(cast.getResult(), cast);
  }
}

/// reduce(keepdims = 0) as reduce(keepdims = 1) and a reshape: inside a kernel
/// every value then has the rank of the domain.
void keepReducedAxes(Operation *op) {
  auto keepdims = op->getAttrOfType<IntegerAttr>("keepdims");
  if (!isa<ReductionOpInterface>(op) || !keepdims || keepdims.getSInt() != 0)
    return;
  OriginTagger tagger(llvm::to_vector(op->getDiscardableAttrs()));
  OpBuilder b(op->getContext(), &tagger);
  b.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  SmallVector<int64_t> reduced(shapeOf(result)),
      kept(shapeOf(op->getOperand(0)));
  for (int64_t axis : cast<ReductionOpInterface>(op).getReducedAxes())
    kept[axis] = 1;
  op->setAttr("keepdims", IntegerAttr::get(keepdims.getType(), 1));
  result.setType(RankedTensorType::get(kept, elementTypeOf(result)));
  auto reshape = b.create<ReshapeOp>(op->getLoc(), result, reduced);
  result.replaceAllUsesExcept(reshape.getResult(), reshape);
}

} // namespace

LogicalResult lowerComposites(ProgramOp program) {
  auto all = [](Operation *) { return true; };
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front()))
    if (isa<DecomposableOpInterface>(op))
      widen(&op);
  if (failed(decomposeOps(program, all)) || failed(cleanUp(program)))
    return failure();
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front()))
    keepReducedAxes(&op);
  return cleanUp(program);
}

} // namespace halftone::passes
