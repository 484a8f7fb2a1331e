// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, and those that make indices.
#include "compiler/graph/Movement.h"
#include "compiler/graph/Constants.h"
#include "tests/compiler/ops/HandValue.h"
#include "tests/compiler/ops/Samples.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace halftone::test;
namespace graph = halftone::graph;

namespace {

std::vector<double> counted(int64_t n) {
  std::vector<double> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(Movement, RulesAndDecompositions) { checkRows(movementSamples()); }

TEST(Movement, HandValues) {
  checkHandValues({
      {{"transpose", "", {{{2, 3}}}}, {counted(6)}, {0, 3, 1, 4, 2, 5}},
      {{"tile", "repeats = array<i64: 2>", {{{2}}}},
       {counted(2)},
       {0, 1, 0, 1}},
      {{"concat", "axis = 1 : si64", {{{2, 1}}, {{2, 2}}}},
       {{8, 9}, counted(4)},
       {8, 0, 1, 9, 2, 3}},
      {{"slice",
        "starts = array<i64: -3>, ends = array<i64: 9223372036854775807>",
        {{{5}}}},
       {counted(5)},
       {2, 3, 4}},
      {{"slice",
        "starts = array<i64: -1>, ends = array<i64: -9223372036854775808>, "
        "steps = array<i64: -2>",
        {{{6}}}},
       {counted(6)},
       {5, 3, 1}},
      {{"slice",
        "starts = array<i64: 20>, ends = array<i64: 0>, steps = array<i64: -1>",
        {{{4}}}},
       {counted(4)},
       {3, 2, 1}},
      {{"pad", "pads = array<i64: 1, -1>, constant_value = 7.0 : f32", {{{3}}}},
       {counted(3)},
       {7, 0, 1}},
      {{"gather", "axis = 1 : si64", {{{2, 3}}, {{2}, 'i'}}},
       {counted(6), {-1, 0}},
       {2, 0, 5, 3}},
      {{"gather_elements", "axis = 1 : si64", {{{2, 2}}, {{2, 2}, 'i'}}},
       {{1, 2, 3, 4}, {0, 0, 1, 0}},
       {1, 1, 4, 3}},
      {{"gather_nd", "", {{{2, 2}}, {{2, 2}, 'i'}}},
       {counted(4), {0, 0, 1, 1}},
       {0, 3}},
      {{"gather_nd", "batch_dims = 1 : si64", {{{2, 2, 2}}, {{2, 1}, 'i'}}},
       {counted(8), {1, 0}},
       {2, 3, 4, 5}},
      {{"gather_grad", "rows = 3 : si64", {{{3}, 'i'}, {{3, 2}}}},
       {{0, -1, 0}, {1, 2, 3, 4, 5, 6}},
       {6, 8, 0, 0, 3, 4}},
      {{"trilu", "k = -1 : si64", {{{3, 3}}}},
       {{1, 1, 1, 1, 1, 1, 1, 1, 1}},
       {1, 1, 1, 1, 1, 1, 0, 1, 1}},
      {{"trilu", "upper = 0 : si64", {{{2, 2}}}}, {{1, 1, 1, 1}}, {1, 0, 1, 1}},
      {{"cum_sum", "axis = 0 : si64, exclusive = 1 : si64", {{{3}}}},
       {{1, 2, 3}},
       {0, 1, 3}},
      {{"cum_sum", "axis = 0 : si64, reverse = 1 : si64", {{{3}, 'i'}}},
       {{1, 2, 3}},
       {6, 5, 3}},
      {{"iota", "shape = array<i64: 2, 2>, axis = 0 : si64", {}},
       {},
       {0, 0, 1, 1}},
      {{"shape", "start = 1 : si64, end = -1 : si64", {{{2, 3, 4}}}}, {}, {3}},
      {{"size", "", {{{2, 3}}}}, {}, {6}},
  });
}

TEST(Movement, HandGradients) {
  checkHandGradients({
      {{"gather", "", {{{3}}, {{4}, 'i'}}},
       {{0, 0, 0}, {2, 0, 2, -1}},
       {1, 2, 4, 8},
       {{2, 0, 13}, {}}},
      {{"gather_elements", "", {{{3}}, {{2}, 'i'}}},
       {{0, 0, 0}, {1, 1}},
       {1, 2},
       {{0, 3, 0}, {}}},
      {{"pad", "pads = array<i64: 1, -1>", {{{3}}}},
       {{0, 0, 0}},
       {1, 2, 4},
       {{2, 4, 0}}},
      {{"slice",
        "starts = array<i64: 3>, ends = array<i64: 0>, steps = array<i64: -2>",
        {{{4}}}},
       {{0, 0, 0, 0}},
       {1, 2},
       {{0, 2, 0, 1}}},
  });
}

// A part without a gradient counts as zeros.
TEST(Movement, SplitWithOneGradient) {
  BuiltOp split({"split", "num_outputs = 2 : si64", {{{4}}}});
  ASSERT_TRUE(split.op) << split.message;
  auto gradients = split.gradients({1, 2});
  expectNear(gradients[0].floats, {1, 2, 0, 0});
  expectNear(
      resultOf({"split", "num_outputs = 3 : si64", {{{7}}}}, {counted(7)}, 2),
      {6});
}

TEST(Movement, Refusals) {
  checkRefusals({
      {{"reshape", "shape = array<i64: 4>", {{{2, 3}}}}, "cannot reshape"},
      {{"squeeze", "axes = array<i64: 0>", {{{2, 1}}}}, "cannot remove axis 0"},
      {{"unsqueeze", "axes = array<i64: 0, 0>", {{{2}}}}, "repeat"},
      {{"flatten", "axis = 3 : si64", {{{2, 2}}}}, "axis 3"},
      {{"transpose", "perm = array<i64: 0, 0>", {{{2, 2}}}}, "no permutation"},
      {{"expand", "shape = array<i64: 3>", {{{2}}}}, "cannot expand"},
      {{"tile", "repeats = array<i64: 2>", {{{2, 2}}}}, "must be 2 numbers"},
      {{"concat", "axis = 0 : si64", {{{2, 2}}, {{2, 3}}}},
       "differ in more than axis 0"},
      {{"concat", "axis = 2 : si64", {{{2}}}}, "axis 2"},
      {{"split", "split = array<i64: 1, 1>", {{{3}}}}, "do not add up"},
      {{"split", "", {{{3}}}}, "needs split or num_outputs"},
      {{"slice",
        "starts = array<i64: 0>, ends = array<i64: 1>, steps = array<i64: 0>",
        {{{3}}}},
       "do not fit"},
      {{"pad", "pads = array<i64: 1>", {{{3}}}}, "do not fit"},
      {{"pad", "pads = array<i64: -2, -2>", {{{3}}}}, "remove more"},
      // What wraps around to an extent, or a product, that would be fine.
      {{"pad",
        "pads = array<i64: 9223372036854775807, 9223372036854775807>",
        {{{3}}}},
       "below 2^31"},
      {{"tile", "repeats = array<i64: 4611686018427387905>", {{{4}}}},
       "too long"},
      {{"reshape", "shape = array<i64: 4, 4611686018427387905>", {{{4}}}},
       "cannot reshape"},
      {{"reshape", "shape = array<i64: 4611686018427387904, 4, -1>", {{{4}}}},
       "cannot reshape"},
      {{"pad", "pads = array<i64: 1, 1>, mode = \"reflect\"", {{{3}}}},
       "only constant"},
      {{"gather", "axis = 1 : si64", {{{3}}, {{2}, 'i'}}}, "axis 1"},
      {{"gather", "", {{{3}}, {{2}}}}, "must be"},
      {{"gather_elements", "", {{{3, 1}}, {{2, 2}, 'i'}}}, "do not fit"},
      {{"gather_nd", "", {{{3}}, {{1, 2}, 'i'}}}, "do not fit"},
      {{"trilu", "", {{{3}}}}, "rank 2"},
      {{"range", "", {{{}, 'i'}, {{}, 'i'}, {{}, 'i'}}}, "constants"},
      {{"constant_of_shape", "", {{{2}, 'i'}}}, "must be a constant"},
      {{"one_hot", "", {{{2}, 'i'}, {{}, 'i'}, {{2}}}}, "constant depth"},
  });
  BuiltOp gather({"gather", "", {{{3}}, {{1}, 'i'}}});
  gather.set(1, {3});
  EXPECT_TRUE(gather.evaluate().empty());
}

/// Ops whose operands must be constants, in a module of their own.
struct ConstantOperands : ::testing::Test {
  ConstantOperands() : b(mlir::UnknownLoc::get(&context), &context) {
    context.loadDialect<graph::GraphDialect>();
    module = mlir::ModuleOp::create(b.getLoc());
    b.setInsertionPointToEnd(module->getBody());
  }
  mlir::Value ints(std::vector<int64_t> shape, std::vector<int64_t> values) {
    auto type = mlir::RankedTensorType::get(shape, b.getI64Type());
    return b.create<graph::ConstantOp>(
        type, mlir::DenseIntElementsAttr::get(type, values));
  }
  halftone::HostTensor evaluate(mlir::Operation *op) {
    llvm::SmallVector<halftone::HostTensor> operands, results;
    for (mlir::Value operand : op->getOperands()) {
      auto constant = operand.getDefiningOp<graph::ConstantOp>();
      operands.push_back(*halftone::HostTensor::fromAttr(constant.getValue()));
    }
    EXPECT_TRUE(
        succeeded(llvm::cast<halftone::ReferenceOpInterface>(op).evaluate(
            operands, results)));
    return results[0];
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::ImplicitLocOpBuilder b;
};

TEST_F(ConstantOperands, Range) {
  auto range = b.create<graph::RangeOp>(ints({}, {10}), ints({}, {1}),
                                        ints({}, {-4}), mlir::IntegerAttr());
  EXPECT_EQ(evaluate(range).ints, (std::vector<int64_t>{10, 6, 2}));
  auto none = b.create<graph::RangeOp>(ints({}, {1}), ints({}, {1}),
                                       ints({}, {1}), mlir::IntegerAttr());
  EXPECT_EQ(evaluate(none).size(), 0);
}

TEST_F(ConstantOperands, ConstantOfShape) {
  auto zeros = b.create<graph::ConstantOfShapeOp>(ints({2}, {2, 3}),
                                                  mlir::ElementsAttr());
  EXPECT_EQ(evaluate(zeros).floats, std::vector<double>(6, 0));
  auto value = mlir::DenseIntElementsAttr::get(
      mlir::RankedTensorType::get({1}, b.getI64Type()), int64_t(7));
  auto sevens = b.create<graph::ConstantOfShapeOp>(ints({1}, {2}), value);
  EXPECT_EQ(evaluate(sevens).ints, (std::vector<int64_t>{7, 7}));
  llvm::SmallVector<mlir::OpFoldResult> folded;
  ASSERT_TRUE(succeeded(sevens->fold(folded)));
  EXPECT_EQ(graph::splatValue(folded[0].get<mlir::Attribute>()), 7.0);
}

TEST_F(ConstantOperands, OneHot) {
  auto hot = b.create<graph::OneHotOp>(ints({3}, {0, -1, 5}), ints({}, {3}),
                                       ints({2}, {4, 9}), 0);
  // One column an index; 5 is out of range.
  EXPECT_EQ(evaluate(hot).ints,
            (std::vector<int64_t>{9, 4, 4, 4, 4, 4, 4, 9, 4}));
}

} // namespace
