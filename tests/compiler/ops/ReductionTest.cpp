// SPDX-License-Identifier: Apache-2.0
// Reductions along axes.
#include "tests/compiler/ops/HandValue.h"
#include "tests/compiler/ops/Samples.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace halftone::test;

namespace {

const double kNaN = std::nan(""), kInf = HUGE_VAL;
const char kLast[] = "axes = array<i64: -1>, keepdims = 0 : si64";

TEST(Reduction, RulesAndDecompositions) { checkRows(reductionSamples()); }

TEST(Reduction, HandValues) {
  const std::vector<Operand> matrix{{{2, 3}}}, ints{{{2, 2}, 'i'}};
  const std::vector<std::vector<double>> numbers{{1, -2, 3, 0, 4, -8}};
  checkHandValues({
      {{"reduce_sum", kLast, matrix}, numbers, {2, -4}},
      {{"reduce_sum", "axes = array<i64: 0>", matrix}, numbers, {1, 2, -5}},
      {{"reduce_sum", "", matrix}, numbers, {-2}},
      {{"reduce_mean", kLast, matrix}, numbers, {2.0 / 3, -4.0 / 3}},
      {{"reduce_max", kLast, matrix}, numbers, {3, 4}},
      {{"reduce_min", kLast, matrix}, numbers, {-2, -8}},
      {{"reduce_prod", kLast, matrix}, numbers, {-6, 0}},
      {{"reduce_sum_square", kLast, matrix}, numbers, {14, 80}},
      {{"reduce_l1", kLast, matrix}, numbers, {6, 12}},
      {{"reduce_l2", kLast, matrix},
       numbers,
       {std::sqrt(14.0), std::sqrt(80.0)}},
      {{"reduce_log_sum", kLast, matrix},
       {{1, 2, 3, 0, 0.5, 0.5}},
       {std::log(6.0), 0}},
      {{"reduce_log_sum_exp", kLast, matrix},
       {{1000, 1000, -kInf, -kInf, -kInf, -kInf}},
       {1000 + std::log(2.0), -kInf}},
      {{"reduce_max", kLast, matrix}, {{1, kNaN, 3, 0, 4, 5}}, {kNaN, 5}},
      {{"reduce_mean", kLast, ints}, {{1, 2, -1, -2}}, {1, -1}},
      {{"arg_max", "axis = 1 : si64", matrix}, {{1, 3, 3, 7, 0, 7}}, {1, 0}},
      {{"arg_max", "axis = 1 : si64, select_last_index = 1 : si64", matrix},
       {{1, 3, 3, 7, 0, 7}},
       {2, 2}},
      {{"arg_min", "keepdims = 0 : si64", matrix},
       {{1, 3, 3, 7, 0, 3}},
       {0, 1, 0}},
  });
}

TEST(Reduction, IntegersAreExactAndWrapAround) {
  const double k53 = 0x1p53, kLeast = -0x1p63;
  const std::vector<Operand> four{{{4}, 'i'}}, none{{{0, 1}, 'i'}};
  const char columns[] = "axes = array<i64: 0>, keepdims = 0 : si64";
  checkHandValues({
      {{"reduce_sum", kLast, four}, {{k53, 1, -k53, 0}}, {1}},
      {{"reduce_mean", kLast, four}, {{k53, 5, -k53, 0}}, {1}},
      {{"reduce_l1", kLast, four}, {{kLeast, kLeast, -1, 2}}, {3}},
      {{"reduce_prod", kLast, four}, {{0x1p62, 4, 1, 1}}, {0}},
      {{"reduce_sum_square", kLast, four}, {{0x1p32, 3, 0, 0}}, {9}},
      {{"reduce_max", columns, none}, {{}}, {kLeast}},
      {{"reduce_mean", columns, none}, {{}}, {0}},
  });
}

TEST(Reduction, GradientsAtCorners) {
  const std::vector<Operand> row{{{4}}};
  checkHandGradients({
      {{"reduce_max", kLast, row}, {{1, 3, 3, 0}}, {6}, {{0, 3, 3, 0}}},
      {{"reduce_min", kLast, row}, {{0, 3, 0, 0}}, {6}, {{2, 0, 2, 2}}},
      {{"reduce_prod", kLast, row}, {{2, 3, 0, 5}}, {1}, {{0, 0, 30, 0}}},
      {{"reduce_prod", kLast, row}, {{2, 0, 0, 5}}, {1}, {{0, 0, 0, 0}}},
      {{"reduce_l2", kLast, row}, {{0, 0, 0, 0}}, {1}, {{0, 0, 0, 0}}},
      {{"reduce_l1", kLast, row}, {{-1, 0, 2, 0}}, {3}, {{-3, 0, 3, 0}}},
  });
}

TEST(Reduction, StagesGiveTheWhole) {
  size_t seen = 0;
  for (OpCase row : reductionSamples()) {
    row.attributes = "axes = array<i64: 0, 2>";
    row.operands = {{{3, 2, 4}}};
    BuiltOp built(row);
    if (!built.op) // An index of an extreme has one axis.
      continue;
    auto reduction = llvm::dyn_cast<halftone::ReductionOpInterface>(built.op);
    if (!reduction || !reduction.reducesInStages())
      continue;
    mlir::ImplicitLocOpBuilder b(built.op->getLoc(), &built.context);
    b.setInsertionPointAfter(built.op);
    mlir::Value data = built.op->getOperand(0),
                parts = reduction.buildOver(b, data, {2}),
                whole = reduction.buildOver(b, parts, {0});
    EXPECT_EQ(whole.getType(), built.op->getResult(0).getType()) << row.name;
    expectNear(built.evaluate(mlir::ValueRange{whole})[0].floats,
               built.evaluate()[0].floats);
    ++seen;
  }
  EXPECT_GE(seen, 5u);
}

TEST(Reduction, Refusals) {
  checkRefusals({
      {{"reduce_sum", "axes = array<i64: 2>", {{{2, 2}}}}, "outside rank 2"},
      {{"reduce_max", "axes = array<i64: 0, -2>", {{{2, 2}}}}, "repeat"},
      {{"arg_max", "axis = 2 : si64", {{{2, 2}}}}, "axis 2"},
  });
}

} // namespace
