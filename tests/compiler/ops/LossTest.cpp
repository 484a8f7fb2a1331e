// SPDX-License-Identifier: Apache-2.0
// Losses. Longer expected values are PyTorch's (float64).
#include "tests/compiler/ops/ModelSamples.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace halftone::test;

namespace {

TEST(CrossEntropy, HandValues) {
  OpCase row{"cross_entropy", "", {{{3, 2}}, {{3}, 'i'}}};
  std::vector<double> logits{0, 0, 0, std::log(3.0), 5, 7};
  expectNear(resultOf(row, {logits, {1, 0, -100}}),
             {(std::log(2.0) + std::log(4.0)) / 2});
}

TEST(CrossEntropy, ValuesAndGradientOfPyTorch) {
  BuiltOp built(
      {"cross_entropy", "axis = 1 : si64", {{{2, 3, 2}}, {{2, 2}, 'i'}}});
  ASSERT_TRUE(built.op) << built.message;
  built.set(0, simple(12));
  built.set(1, {0, 2, -100, 1});
  expectNear(built.evaluate()[0].floats, {1.99395982382}, 1e-10);
  auto gradients = built.gradients({1});
  expectNear(gradients[0].floats,
             {-0.289466117618, 0.234437992007, 0.092866896399, 0.03172773205,
              0.196599221219, -0.266165724057, 0, 0.234437992007, 0,
              -0.301605601284, 0, 0.067167609276},
             1e-10);
  EXPECT_EQ(gradients[1].getType(), mlir::RankedTensorType());
}

// PyTorch's answer: the mean of nothing is NaN, and nothing gets a gradient.
TEST(CrossEntropy, NoValidLabel) {
  BuiltOp built({"cross_entropy", "", {{{2, 3}}, {{2}, 'i'}}});
  ASSERT_TRUE(built.op) << built.message;
  built.set(1, {-100, -100});
  EXPECT_TRUE(std::isnan(built.evaluate()[0].floats[0]));
  EXPECT_TRUE(std::isnan(built.evaluateDecomposed()[0].floats[0]));
  expectNear(built.gradients({1})[0].floats, {0, 0, 0, 0, 0, 0});
}

TEST(Loss, RulesAndDecompositions) { checkRows(lossSamples()); }

TEST(CrossEntropy, Refusals) {
  checkRefusals({
      {{"cross_entropy", "", {{{4}}, {{}, 'i'}}}, "rank 2 to 4"},
      {{"cross_entropy", "axis = 3 : si64", {{{4, 5}}, {{4}, 'i'}}}, "axis 3"},
      {{"cross_entropy", "", {{{4, 5}}, {{5}, 'i'}}},
       "should have the shape [4]"},
  });
}

TEST(CrossEntropy, LabelOutsideTheClasses) {
  BuiltOp built({"cross_entropy", "", {{{2, 3}}, {{2}, 'i'}}});
  ASSERT_TRUE(built.op) << built.message;
  built.set(1, {0, 3});
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      &built.context, [&](mlir::Diagnostic &d) { message += d.str(); });
  EXPECT_TRUE(built.evaluate().empty());
  EXPECT_NE(message.find("label 3 at position 1 lies outside the 3 classes"),
            std::string::npos)
      << message;
}

TEST(NegativeLogLikelihoodLoss, WeightedValueOfPyTorch) {
  OpCase row{"negative_log_likelihood_loss",
             "ignore_index = -100 : si64",
             {{{2, 3, 2}}, {{2, 2}, 'i'}, {{3}}}};
  expectNear(resultOf(row, {simple(12), {0, 2, -100, 1}, {1, 0.5, 2}}),
             {0.321428571429}, 1e-10);
}

TEST(NegativeLogLikelihoodLoss, Refusals) {
  Operand scores{{2, 3, 4}}, target{{2, 4}, 'i', 0, 2},
      weight{{3}, 'f', 0.5, 2};
  checkRefusals({
      {{"negative_log_likelihood_loss", "", {scores, {{2, 3}, 'i'}, kAbsent}},
       "should have the shape [2, 4]"},
      {{"negative_log_likelihood_loss", "", {scores, target, {{4}}}},
       "do not match the classes"},
      {{"softmax_cross_entropy_loss",
        R"(reduction = "average")",
        {scores, target, kAbsent}},
       "is none of none, mean, sum"},
  });
}

TEST(RowLoss, ValuesOfPyTorch) {
  auto with = [](const char *name) {
    auto prediction = simple(6, 5);
    for (double &x : prediction)
      x *= 4;
    return resultOf({name, "", {{{2, 3}}, {{2, 3}}, kAbsent}},
                    {prediction, {0, 0.5, 1, 0, 0.5, 1}});
  };
  expectNear(with("bce_with_logits_loss"), {0.98230168235}, 1e-10);
  expectNear(with("mse_loss"), {9.416666666667}, 1e-10);
  expectNear(with("l1_loss"), {2.333333333333}, 1e-10);
}

// Rows of weight 0 fill a batch and count nowhere.
TEST(RowLoss, MaskedRows) {
  OpCase row{"mse_loss", "", {{{3, 2}}, {{3, 2}}, {{3}}}};
  expectNear(
      resultOf(row, {{1, 2, 3, 4, 99, 99}, {0, 0, 0, 0, 0, 0}, {1, 1, 0}}),
      {(1 + 4 + 9 + 16) / 4.});
}

TEST(RowLoss, Refusals) {
  Operand x{{3, 2, 2}, 'f', -4, 4}, t{{3, 2, 2}, 'f', 0, 1},
      w{{3}, 'f', 0.5, 1};
  for (const char *name : {"mse_loss", "l1_loss", "bce_with_logits_loss"}) {
    checkRefusals({{{name, "", {x, w, kAbsent}}, "differ in shape"},
                   {{name, "", {x, t, {{2}}}}, "do not match the rows"}});
  }
}

// A confident right answer keeps its small loss, and a wrong one is finite.
TEST(RowLoss, BceIsStable) {
  OpCase row{"bce_with_logits_loss", "", {{{1}}, {{1}}, kAbsent}};
  expectNear(resultOf(row, {{40}, {1}}), {std::exp(-40.0)}, 1e-30);
  expectNear(resultOf(row, {{-800}, {1}}), {800});
}

} // namespace
