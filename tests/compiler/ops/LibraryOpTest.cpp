// SPDX-License-Identifier: Apache-2.0
// What the operators that run in libraries become: their form with channels
// last, and the steps that they are lowered to, both held to `evaluate`.
#include "compiler/graph/ChannelsLast.h"
#include "compiler/reference/StepReference.h"
#include "tests/compiler/ops/ModelSamples.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace halftone;
using namespace halftone::graph;
using namespace halftone::test;

namespace {

/// `v` with axis 1 moved to the end, or the last axis moved to place 1.
Value moveChannels(ImplicitLocOpBuilder &b, Value v, bool toEnd) {
  SmallVector<int64_t> order =
      toEnd ? orderToEnd(rankOf(v)) : orderFromEnd(rankOf(v));
  return b.create<TransposeOp>(v, b.getDenseI64ArrayAttr(order));
}

bool hasChannelsSecond(Operation *op) {
  auto last = op->getAttrOfType<BoolAttr>("channels_last");
  return isa<ChannelsLastOpInterface>(op) && !(last && last.getValue());
}

/// Whether canonicalization would take something off the op first.
bool isCanonical(Operation *op) {
  if (isa<ConvOp>(op) && op->getNumOperands() > 2) // a bias
    return false;
  ArrayRef<int64_t> a = shapeOf(op->getOperand(0)),
                    b = shapeOf(op->getOperand(1));
  return !isa<MatMulOp>(op) || a.drop_back(2) == b.drop_back(2);
}

/// The op's form with channels last, between transposes.
Value throughChannelsLast(BuiltOp &built) {
  ImplicitLocOpBuilder b(built.op->getLoc(), &built.context);
  b.setInsertionPointAfter(built.op);
  SmallVector<Value> operands;
  for (Value v : built.op->getOperands())
    operands.push_back(rankOf(v) < 3 ? v : moveChannels(b, v, true));
  Value last =
      cast<ChannelsLastOpInterface>(built.op).buildChannelsLast(b, operands);
  return moveChannels(b, last, false);
}

TEST(ChannelsLast, GivesTheSame) {
  size_t seen = 0;
  for (const OpCase &row : modelSamples()) {
    SCOPED_TRACE(std::string(row.name) + " {" + row.attributes + "}");
    BuiltOp built(row);
    ASSERT_TRUE(built.op) << built.message;
    if (!hasChannelsSecond(built.op))
      continue;
    auto expected = built.evaluate();
    Value last = throughChannelsLast(built);
    EXPECT_EQ(last.getType(), built.op->getResult(0).getType());
    auto values = built.evaluate(ValueRange{last});
    ASSERT_EQ(values.size(), 1u);
    expectNear(values[0].floats, expected[0].floats);
    ++seen;
  }
  EXPECT_GT(seen, 5u);
}

/// The steps of `op` on `operands`, by the host reference of steps.
std::vector<double> runLowered(Operation *op, ArrayRef<HostTensor> operands) {
  MLIRContext *context = op->getContext();
  context->loadDialect<exec::ExecDialect, memref::MemRefDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  auto program = OpBuilder::atBlockEnd(module->getBody())
                     .create<exec::ProgramOp>(op->getLoc(), "main");
  program.getBody().emplaceBlock();
  auto b = OpBuilder::atBlockEnd(&program.getBody().front());
  auto buffer = [&](Value v) -> Value {
    return b.create<exec::BufferOp>(
        op->getLoc(), MemRefType::get(shapeOf(v), elementTypeOf(v)),
        b.getStringAttr("activations"), b.getStringAttr(""), IntegerAttr(),
        ElementsAttr());
  };
  llvm::DenseMap<Value, HostTensor> known;
  SmallVector<Value> inputs, outputs;
  for (auto [v, tensor] : llvm::zip_equal(op->getOperands(), operands)) {
    inputs.push_back(buffer(v));
    known.insert({inputs.back(), tensor});
  }
  for (Value v : op->getResults())
    outputs.push_back(buffer(v));
  cast<LibraryOpInterface>(op).lower(b, inputs, outputs);
  reference::Interpreter interpreter;
  for (auto step : program.getBody().getOps<exec::StepOpInterface>()) {
    SmallVector<HostTensor> read;
    for (Value v : step.getInputs())
      read.push_back(known.at(v));
    auto results = reference::runStep(step, read, interpreter);
    if (failed(results))
      return {};
    for (auto [v, tensor] : llvm::zip_equal(step.getOutputs(), *results))
      known.insert({v, tensor});
  }
  return known.at(outputs[0]).floats;
}

TEST(Library, LowersToStepsThatGiveTheSame) {
  size_t seen = 0, products = 0;
  for (const OpCase &row : modelSamples()) {
    BuiltOp built(row);
    ASSERT_TRUE(built.op) << built.message;
    if (!isa<LibraryOpInterface>(built.op) || !isCanonical(built.op))
      continue;
    SCOPED_TRACE(std::string(row.name) + " {" + row.attributes + "}");
    expectNear(runLowered(built.op, built.operands),
               built.evaluate()[0].floats);
    ++seen;
    if (!hasChannelsSecond(built.op))
      continue;
    Value back = throughChannelsLast(built);
    Operation *last = back.getDefiningOp()->getOperand(0).getDefiningOp();
    SmallVector<HostTensor> operands;
    for (Value v : last->getOperands())
      operands.push_back(built.evaluate(ValueRange{v})[0]);
    Value result = last->getResult(0);
    expectNear(runLowered(last, operands),
               built.evaluate(ValueRange{result})[0].floats);
    products += llvm::all_of(shapeOf(last->getOperand(1)).slice(1).drop_back(),
                             [](int64_t d) { return d == 1; });
  }
  EXPECT_GT(seen, 8u);
  EXPECT_GT(products, 0u);
}

} // namespace
