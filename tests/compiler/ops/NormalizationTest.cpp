// SPDX-License-Identifier: Apache-2.0
// Softmax and the normalizations. Longer expected values are PyTorch's
// (float64).
#include "tests/compiler/ops/ModelSamples.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace halftone::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Attributes are float32: what PyTorch computes with 1e-5 and 0.1 differs by
// that.
constexpr double kAttributeTolerance = 1e-7;

TEST(Softmax, HandValues) {
  OpCase row{"softmax", "", {{{1, 3}}}},
      logarithm{"log_softmax", "axis = 0 : si64", {{{2, 1}}}};
  expectNear(resultOf(row, {{0, std::log(2.0), std::log(4.0)}}),
             {1 / 7., 2 / 7., 4 / 7.});
  expectNear(resultOf(row, {{1000, 1000, -1000}}), {0.5, 0.5, 0});
  expectNear(resultOf(row, {{0, -kInfinity, 0}}), {0.5, 0, 0.5});
  // As in PyTorch a row without anything finite is NaN.
  expectNear(resultOf(row, {{-kInfinity, -kInfinity, -kInfinity}}),
             {NAN, NAN, NAN});
  expectNear(resultOf(logarithm, {{0, std::log(3.0)}}),
             {-std::log(4.0), std::log(0.75)});
}

// Exports of masked attention replace the NaN of a query without keys by 0.
TEST(Softmax, RowWithoutAnythingFiniteGetsNoGradient) {
  BuiltOp built({"softmax", "", {{{2, 2}}}});
  ASSERT_TRUE(built.op) << built.message;
  built.set(0, {-kInfinity, -kInfinity, 0, 0});
  expectNear(built.gradients({0, 0, 1, 0})[0].floats, {0, 0, 0.25, -0.25});
}

TEST(Normalization, RulesAndDecompositions) {
  checkRows(normalizationSamples());
}

TEST(Softmax, Refusals) {
  checkRefusals({{{"softmax", "axis = 2 : si64", {{{3, 5}}}},
                  "axis 2 lies outside rank 2"}});
}

TEST(LayerNormalization, HandValues) {
  OpCase row{
      "layer_normalization", "epsilon = 0.0 : f32", {{{1, 4}}, {{4}}, kAbsent}};
  double r = 1 / std::sqrt(1.25);
  expectNear(resultOf(row, {{1, 2, 3, 4}, {1, 1, 2, 1}}),
             {-1.5 * r, -0.5 * r, r, 1.5 * r});
  expectNear(resultOf(row, {{1, 2, 3, 4}, {1, 1, 2, 1}}, 1), {2.5});
  expectNear(resultOf(row, {{1, 2, 3, 4}, {1, 1, 2, 1}}, 2), {r});
}

TEST(LayerNormalization, ValuesOfPyTorch) {
  std::vector<double> scale{0, 1, 2, 3, 4, 5}, ones(6, 1);
  expectNear(resultOf({"layer_normalization", "", {{{2, 6}}, {{6}}, {{6}}}},
                      {simple(12), scale, ones}),
             {1.0, 2.431482318901, 1.114518585512, -2.950891200166,
              5.351706249458, -0.431482318901, 1.0, 2.431482318901,
              1.114518585512, -2.950891200166, 5.351706249458, -0.431482318901},
             kAttributeTolerance);
  expectNear(resultOf({"rms_normalization", "", {{{2, 6}}, {{6}}}},
                      {simple(12), scale}),
             {0, 1.651431235262, 0.660572494105, -2.972576223471,
              5.284579952837, 0, 0, 0.956681423076, -0.637787615384,
              -4.783407115378, 2.551150461535, -3.188938076919},
             kAttributeTolerance);
}

TEST(LayerNormalization, Refusals) {
  checkRefusals({
      {{"layer_normalization", "axis = 3 : si64", {{{3, 5}}, {{5}}, kAbsent}},
       "axis 3 lies outside"},
      {{"layer_normalization", "", {{{3, 5}}, {{3}}, kAbsent}},
       "does not broadcast"},
      {{"layer_normalization", "", {{{3, 5}}, {{5}}, {{1}}}},
       "differs in shape from Scale"},
      {{"rms_normalization", "", {{{3, 5}}, {{2, 3, 5}}}},
       "does not broadcast"},
  });
}

TEST(GroupNormalization, ValuesOfPyTorch) {
  OpCase group{"group_normalization",
               "num_groups = 2 : si64",
               {{{1, 4, 2, 2}}, {{4}}, {{4}}}};
  OpCase instance{"instance_normalization", "", {{{1, 4, 2, 2}}, {{4}}, {{4}}}};
  std::vector<double> scale{1, 2, 3, 4}, bias{0, 1, 0, 1};
  expectNear(resultOf(group, {simple(16), scale, bias}),
             {-0.800634199746, 1.441141559543, 0.160126839949, -1.120887879645,
              3.241775759289, 0.679746320102, -1.882283119086, 2.601268399492,
              -1.036157088098, -4.720271179114, 1.726928480164, -1.957185610852,
              6.986685397901, 2.074533276546, -2.837618844808, 5.758647367562},
             kAttributeTolerance);
  expectNear(resultOf(instance, {simple(16), scale, bias}),
             {-0.722891426353, 1.5261041223, 0.240963808784, -1.044176504732,
              3.088353009464, 0.518072382431, -2.052208244601, 2.445782852706,
              0.599992320147, -4.199946241032, 4.199946241032, -0.599992320147,
              5.176706018928, 0.036144764863, -5.104416489202, 3.891565705411},
             kAttributeTolerance);
}

// Before opset 21 each group has one scale.
TEST(GroupNormalization, ScaleOfAGroup) {
  auto first = resultOf({"group_normalization",
                         "num_groups = 2 : si64, opset = 18 : si64",
                         {{{1, 4, 2}}, {{2}}, {{2}}}},
                        {simple(8), {2, 3}, {1, 0}});
  auto second = resultOf({"group_normalization",
                          "num_groups = 2 : si64",
                          {{{1, 4, 2}}, {{4}}, {{4}}}},
                         {simple(8), {2, 2, 3, 3}, {1, 1, 0, 0}});
  expectNear(first, second);
}

TEST(GroupNormalization, Refusals) {
  checkRefusals({
      {{"instance_normalization", "", {{{2, 3}}, {{3}}, {{3}}}},
       "needs spatial axes"},
      {{"instance_normalization", "", {{{2, 3, 5}}, {{2}}, {{3}}}},
       "need 3 elements"},
      {{"group_normalization",
        "num_groups = 4 : si64",
        {{{2, 6, 3}}, {{6}}, {{6}}}},
       "do not divide into 4 groups"},
      {{"group_normalization",
        "num_groups = 2 : si64, opset = 18 : si64",
        {{{2, 6, 3}}, {{6}}, {{6}}}},
       "need 2 elements"},
  });
}

const std::vector<std::vector<double>> kBatchNormValues{
    simple(12), {1.5, -1}, {0.25, 0.5}, {1, -1}, {2, 0.5}};

TEST(BatchNormalization, TrainsAsPyTorch) {
  OpCase row{"batch_normalization", "training_mode = 1 : si64",
             batchNormOperands({3, 2, 2})};
  expectNear(resultOf(row, kBatchNormValues),
             {-0.695882527918, 2.360045639202, -0.070345228746, 1.450575381243,
              1.923484472471, 0.177239805545, 1.830805533741, -0.830805533741,
              -0.259321361187, -2.005566028113, -0.450575381243,
              1.070345228746},
             kAttributeTolerance);
  expectNear(resultOf(row, kBatchNormValues, 1), {0.904166666667, -0.9125},
             kAttributeTolerance);
  // The unbiased variance moves the running one.
  expectNear(resultOf(row, kBatchNormValues, 2), {1.888541666667, 0.501875},
             kAttributeTolerance);
}

TEST(BatchNormalization, FrozenUsesRunningStatistics) {
  OpCase row{"batch_normalization", "", batchNormOperands({3, 2, 2})};
  expectNear(resultOf(row, kBatchNormValues),
             {-1.340986280209, 0.515164380035, -1.267749275562, 0.146450144888,
              0.25, -0.810657520139, 0.5, -1.974848985787, -1.075821900174,
              -2.136479420314, -1.621299130674, -0.207099710225},
             kAttributeTolerance);
  expectNear(resultOf(row, kBatchNormValues, 1), {1, -1});
  expectNear(resultOf(row, kBatchNormValues, 2), {2, 0.5});
}

TEST(BatchNormalization, Refusals) {
  checkRefusals(
      {{{"batch_normalization", "", {{{2, 3}}, {{3}}, {{3}}, {{2}}, {{3}}}},
        "need 3 elements"}});
}

TEST(BatchNormalization, StatisticsMoveOnlyInTraining) {
  BuiltOp built({"batch_normalization", "", batchNormOperands({3, 2, 2})});
  ASSERT_TRUE(built.op) << built.message;
  auto training = llvm::cast<halftone::TrainingOpInterface>(built.op);
  EXPECT_TRUE(training.getStatisticUpdates().empty());
  training.setTraining(true);
  ASSERT_EQ(training.getStatisticUpdates().size(), 2u);
  EXPECT_EQ(training.getStatisticUpdates()[1],
            (std::pair<unsigned, unsigned>(4, 2)));
}

} // namespace
