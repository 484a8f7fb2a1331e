// SPDX-License-Identifier: Apache-2.0
// Dropout and its random numbers.
#include "compiler/graph/PhiloxBits.h"
#include "runtime/base/Philox.h"
#include "tests/compiler/ops/HandValue.h"
#include "tests/compiler/ops/Samples.h"
#include <gtest/gtest.h>

using namespace halftone::test;
namespace graph = halftone::graph;

namespace {

TEST(Random, RulesAndDecompositions) { checkRows(randomSamples()); }

// Known answers of the paper's own test vectors.
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(graph::philoxWord({0, 0, 0, 0}, {0, 0}), 0x6627e8d5u);
  EXPECT_EQ(graph::philoxWord({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), 0x408f276du);
  EXPECT_EQ(
      graph::philoxWord({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
                        {0xa4093822u, 0x299f31d0u}),
      0xd16cfe09u);
}

TEST(Random, PhiloxIsTheRuntimes) {
  for (uint32_t i = 0; i < 100; ++i) {
    std::array<uint32_t, 4> counter = {i, 0, 7 * i, i / 3};
    EXPECT_EQ(graph::philoxWord(counter, {i, 5}),
              halftone::runtime::philox4x32(counter, {i, 5})[0]);
  }
}

std::vector<double> maskOf(const char *attributes, double seed, double step) {
  return resultOf({"dropout_mask", attributes, {{{}, 'i'}, {{}, 'i'}}},
                  {{seed}, {step}});
}

TEST(Random, MaskHasTheRightShare) {
  const char *attributes =
      "node_id = 1 : si64, ratio = 0.25 : f32, shape = array<i64: 100, 100>";
  std::vector<double> mask = maskOf(attributes, 42, 0);
  auto dropped = llvm::count(mask, 0.0);
  // Four standard deviations of a binomial distribution: 43 each.
  EXPECT_NEAR(static_cast<double>(dropped), 2500, 175);
  EXPECT_EQ(static_cast<size_t>(
                dropped + llvm::count(mask, static_cast<float>(1 / 0.75))),
            mask.size());
}

TEST(Random, MaskDependsOnAllThree) {
  const char *first =
      "node_id = 1 : si64, ratio = 0.5 : f32, shape = array<i64: 64>";
  const char *second =
      "node_id = 2 : si64, ratio = 0.5 : f32, shape = array<i64: 64>";
  std::vector<double> mask = maskOf(first, 1, 1);
  EXPECT_EQ(mask, maskOf(first, 1, 1));
  EXPECT_NE(mask, maskOf(first, 2, 1));
  EXPECT_NE(mask, maskOf(first, 1, 2));
  EXPECT_NE(mask, maskOf(second, 1, 1));
  EXPECT_NE(mask, maskOf(first, 1 + 0x1p32, 1));
}

TEST(Random, MaskAtTheEnds) {
  expectNear(
      maskOf("node_id = 0 : si64, ratio = 0.0 : f32, shape = array<i64: 2>", 1,
             1),
      {1, 1});
  expectNear(
      maskOf("node_id = 0 : si64, ratio = 1.0 : f32, shape = array<i64: 2>", 1,
             1),
      {0, 0});
}

TEST(Random, TrainingDropoutIsMaskTimesData) {
  BuiltOp built(
      {"dropout", "ratio = 0.5 : f32, training_mode = true", {{{8}}}});
  ASSERT_TRUE(built.op) << built.message;
  auto op = llvm::cast<halftone::StochasticOpInterface>(built.op);
  EXPECT_TRUE(op.isTraining());
  EXPECT_TRUE(built.evaluate().empty());
  mlir::ImplicitLocOpBuilder b(built.op->getLoc(), &built.context);
  b.setInsertionPointAfter(built.op);
  auto type = mlir::RankedTensorType::get({}, b.getI64Type());
  mlir::Value one = b.create<graph::ConstantOp>(
      type, mlir::DenseIntElementsAttr::get(type, int64_t(1)));
  auto product = op.buildTraining(b, one, one, 5).getDefiningOp<graph::MulOp>();
  ASSERT_TRUE(product);
  EXPECT_TRUE(product.getB().getDefiningOp<graph::DropoutMaskOp>());
  EXPECT_EQ(product.getA(), built.op->getOperand(0));
}

TEST(Random, DropoutWithoutTrainingIsInert) {
  for (const char *attributes : {"", "training_mode = false",
                                 "ratio = 0.0 : f32, training_mode = true"}) {
    BuiltOp built({"dropout", attributes, {{{2}}}});
    ASSERT_TRUE(built.op) << built.message;
    EXPECT_FALSE(
        llvm::cast<halftone::StochasticOpInterface>(built.op).isTraining());
  }
  checkRefusals(
      {{{"dropout", "ratio = 1.5 : f32", {{{2}}}}, "outside [0, 1]"}});
}

} // namespace
