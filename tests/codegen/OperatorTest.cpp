// SPDX-License-Identifier: Apache-2.0
// Every operator of the catalogue that has a scalar form, alone in a kernel:
// against `evaluate` on the CPU for each float type in memory, and through
// ptxas for CUDA.
#include "compiler/graph/GraphOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "tests/codegen/KernelHarness.h"
#include "tests/compiler/ops/ModelSamples.h"
#include "tests/compiler/ops/Samples.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace halftone;
using namespace halftone::testing;

namespace {

struct Sample {
  std::string text;               ///< One exec.kernel.
  std::vector<HostTensor> inputs; ///< In the context of the sample's BuiltOp.
};

Type stored(Type type, Type low) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getElementType().isF32() ? Type(tensor.clone(low)) : type;
}

Type floatType(MLIRContext *context, const std::string &name) {
  return name == "bf16"  ? Type(BFloat16Type::get(context))
         : name == "f16" ? Type(Float16Type::get(context))
                         : Type(Float32Type::get(context));
}

/// The op as the body of a kernel; empty for ops that are computed another way.
std::string kernelOf(test::BuiltOp &built, const std::string &name,
                     const std::string &floats) {
  Operation *op = built.op;
  bool isReduction = isa<ReductionOpInterface>(op),
       isScatter = isa<ScatterOpInterface>(op);
  if (!isReduction && !isScatter &&
      !isa<ScalarOpInterface, ElementOpInterface>(op))
    return "";
  if (isReduction && !cast<IntegerAttr>(op->getAttr("keepdims")).getSInt())
    return "";
  Location loc = op->getLoc();
  Type low = floatType(&built.context, floats);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  auto kernel = b.create<exec::KernelOp>(loc, name);
  Block &outer = kernel.getBody().emplaceBlock();
  SmallVector<Type> operands, results;
  for (Type type : op->getOperandTypes())
    operands.push_back(stored(type, low));
  for (Type type : op->getResultTypes())
    results.push_back(stored(type, low));
  SmallVector<Location> locations(operands.size(), loc);
  outer.addArguments(operands, locations);
  b.setInsertionPointToEnd(&outer);
  auto fused =
      b.create<graph::FusedOp>(loc, results, outer.getArguments(),
                               b.getStringAttr(isScatter     ? "scatter"
                                               : isReduction ? "reduction"
                                                             : "pointwise"));
  if (isReduction) {
    fused->setAttr("domain",
                   b.getDenseI64ArrayAttr(graph::shapeOf(op->getOperand(0))));
    fused->setAttr("reduced",
                   b.getDenseI64ArrayAttr(
                       cast<ReductionOpInterface>(op).getReducedAxes()));
  }
  Block &body = fused.getBody().emplaceBlock();
  body.addArguments(operands, locations);
  b.setInsertionPointToEnd(&body);
  Operation *copy = b.clone(*op);
  copy->setOperands(body.getArguments());
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), results))
    result.setType(type);
  b.create<graph::YieldOp>(loc, copy->getResults());
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream);
  return text + "\n";
}

std::vector<test::OpCase> catalogue() {
  auto rows = test::basicSamples(), more = test::modelSamples();
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

/// The same numbers in a type of another context, rounded to it.
HostTensor moved(const HostTensor &from, Type type) {
  HostTensor to(cast<RankedTensorType>(type));
  for (int64_t i = 0; i < to.size(); ++i)
    to.isFloat() ? to.set(i, roundTo(from.asDouble(i), to.getElementType()))
                 : to.set(i, from.asInt(i));
  return to;
}

class Operators : public ::testing::TestWithParam<std::string> {};

TEST_P(Operators, EqualEvaluate) {
  std::string text;
  std::vector<std::vector<HostTensor>> inputs;
  std::vector<std::string> names;
  std::vector<std::unique_ptr<test::BuiltOp>> keep;
  for (const test::OpCase &row : catalogue()) {
    auto built = std::make_unique<test::BuiltOp>(row);
    ASSERT_TRUE(built->op) << row.name << built->message;
    std::string kernel =
        kernelOf(*built, "k" + std::to_string(names.size()) + "_" + row.name,
                 GetParam());
    if (kernel.empty())
      continue;
    text += kernel;
    names.push_back(std::string(row.name) + " {" + row.attributes + "}");
    inputs.push_back(built->operands);
    keep.push_back(std::move(built));
  }
  ASSERT_GT(names.size(), 50u);
  KernelModule module(text);
  ASSERT_TRUE(module);
  ASSERT_TRUE(module.compile()) << module.diagnostic;
  for (unsigned k = 0; k < names.size(); ++k) {
    std::vector<HostTensor> own;
    for (auto [tensor, v] :
         llvm::zip_equal(inputs[k], module.fused(k).getInputs()))
      own.push_back(moved(tensor, v.getType()));
    auto expected = module.reference(own, k), whole = module.run(own, {}, k);
    auto cut = module.run(own, {module.info(k).workItems / 2}, k);
    ASSERT_EQ(expected.size(), whole.size());
    for (size_t r = 0; r < whole.size(); ++r) {
      // The slopes and values of gelu are differences of numbers near 1, so
      // that their error is one of 1, not of the result.
      double allowed = GetParam() != "f32"            ? 1.05
                       : names[k].starts_with("gelu") ? 64
                                                      : 8;
      EXPECT_LE(errorInRoundings(whole[r], expected[r], 0.1), allowed)
          << names[k] << " result " << r;
      EXPECT_TRUE(
          whole[r].floats == cut[r].floats ||
          llvm::any_of(whole[r].floats, [](double x) { return std::isnan(x); }))
          << names[k];
      EXPECT_EQ(whole[r].ints, cut[r].ints);
    }
  }
  std::string ptx = module.ptx();
  ASSERT_NE(ptx, "") << module.diagnostic;
  bool ran = false;
  EXPECT_EQ(assemble(ptx, ran), "");
}

INSTANTIATE_TEST_SUITE_P(Types, Operators,
                         ::testing::Values("f32", "bf16", "f16"),
                         [](const auto &type) { return type.param; });

} // namespace
