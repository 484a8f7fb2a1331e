// SPDX-License-Identifier: Apache-2.0
// Matrix product steps against sums in double.
#include "tests/device/DeviceTest.h"
#include "tests/device/ProductBound.h"

#include <cmath>

namespace halftone::runtime::test {
namespace {

using enum ElementType;

struct Types {
  ElementType a, b, bias, c;
};

struct Product {
  MatMul shape;
  Types types;
};

/// A product of dense matrices, one after the other.
MatMul dense(int64_t batch, int64_t m, int64_t n, int64_t k, bool ta = false,
             bool tb = false, bool bias = false) {
  return {.batch = batch,
          .m = m,
          .n = n,
          .k = k,
          .transposeA = ta,
          .transposeB = tb,
          .strideA = m * k,
          .strideB = k * n,
          .strideC = m * n,
          .bias = bias,
          .tf32 = false};
}

TestTensor operand(ElementType type, int64_t batch, int64_t stride,
                   int64_t size, uint64_t seed) {
  return randomTensor(type, {(batch - 1) * stride + size}, seed);
}

/// Results at [batch][row][column], without the gaps that strideC may leave.
ExactSums exactProduct(const MatMul &p, const TestTensor &a,
                       const TestTensor &b, const TestTensor *bias) {
  ExactSums sums(static_cast<size_t>(p.batch * p.m * p.n));
  size_t at = 0;
  for (int64_t i = 0; i < p.batch; ++i)
    for (int64_t row = 0; row < p.m; ++row)
      for (int64_t column = 0; column < p.n; ++column, ++at) {
        for (int64_t j = 0; j < p.k; ++j) {
          int64_t left = p.transposeA ? j * p.m + row : row * p.k + j;
          int64_t right = p.transposeB ? column * p.k + j : j * p.n + column;
          sums.add(at,
                   a.values[static_cast<size_t>(i * p.strideA + left)] *
                       b.values[static_cast<size_t>(i * p.strideB + right)]);
        }
        if (bias)
          sums.add(at, bias->values[static_cast<size_t>(column)]);
      }
  return sums;
}

class MatMulTest : public DeviceTest {
protected:
  void check(const MatMul &p, const Types &types) {
    SCOPED_TRACE(testing::Message()
                 << "batch " << p.batch << " m " << p.m << " n " << p.n << " k "
                 << p.k << " transposes " << p.transposeA << p.transposeB
                 << " strides " << p.strideA << " " << p.strideB << " "
                 << p.strideC << " bias " << p.bias << " types "
                 << elementName(types.a) << " " << elementName(types.b) << " "
                 << elementName(types.c));
    TestTensor a = operand(types.a, p.batch, p.strideA, p.m * p.k, 1);
    TestTensor b = operand(types.b, p.batch, p.strideB, p.k * p.n, 2);
    TestTensor bias = randomTensor(types.bias, {p.n}, 3);
    TestPlan plan(device->info());
    std::vector<uint32_t> inputs{plan.input(a), plan.input(b)};
    if (p.bias)
      inputs.push_back(plan.input(bias));
    Shape shape{(p.batch - 1) * p.strideC + p.m * p.n};
    uint32_t c = plan.output(types.c, shape);
    plan.step("MatMul_0", inputs, {c}, p);
    auto run = runPlan(plan);
    ASSERT_TRUE(run);
    ASSERT_TRUE(run->runAll().ok()) << "a second run";

    TestTensor all = *run->read(c), results{types.c, {}, {}};
    std::vector<bool> written(all.values.size());
    for (int64_t i = 0; i < p.batch; ++i)
      for (int64_t j = 0; j < p.m * p.n; ++j) {
        size_t at = static_cast<size_t>(i * p.strideC + j);
        results.values.push_back(all.values[at]);
        written[at] = true;
      }
    EXPECT_TRUE(withinOneRounding(
        results, exactProduct(p, a, b, p.bias ? &bias : nullptr)));
    for (size_t i = 0; i < written.size(); ++i)
      EXPECT_TRUE(written[i] || std::isnan(all.values[i])) << "gap at " << i;
    EXPECT_TRUE(*run->gapsUntouched());
  }
};

constexpr Types kTypes[] = {
    {F32, F32, F32, F32}, {F16, F16, F16, F16},   {BF16, BF16, BF16, BF16},
    {F16, F16, F32, F32}, {BF16, BF16, F32, F32},
};

TEST_P(MatMulTest, ShapesTransposesAndTypes) {
  const int64_t sizes[][3] = {{1, 1, 1},   {1, 17, 5},   {17, 1, 33},
                              {5, 7, 1},   {16, 16, 16}, {33, 65, 129},
                              {64, 48, 80}};
  for (const Types &types : kTypes)
    for (auto [m, n, k] : sizes)
      for (int transposes = 0; transposes < 4; ++transposes)
        check(dense(1, m, n, k, transposes & 1, transposes & 2), types);
}

TEST_P(MatMulTest, LargeOnes) {
  check(dense(1, 257, 300, 515), kTypes[0]);
  check(dense(1, 300, 257, 515, true, false), kTypes[0]);
  check(dense(1, 128, 384, 1024, false, true, true), kTypes[1]);
  check(dense(1, 384, 128, 1024, true, true), kTypes[2]);
}

TEST_P(MatMulTest, Batches) {
  for (const Types &types : kTypes)
    for (int transposes = 0; transposes < 4; ++transposes)
      check(dense(6, 12, 20, 9, transposes & 1, transposes & 2), types);
}

TEST_P(MatMulTest, BroadcastAndSpacedBatches) {
  for (const Types &types : {kTypes[0], kTypes[1], kTypes[2]})
    for (int transposes = 0; transposes < 4; ++transposes) {
      MatMul p = dense(4, 6, 10, 8, transposes & 1, transposes & 2);
      MatMul broadcastA = p, broadcastB = p, both = p, spaced = p;
      broadcastA.strideA = 0;
      broadcastB.strideB = 0;
      both.strideA = both.strideB = 0;
      spaced.strideA += 16;
      spaced.strideB += 8;
      spaced.strideC += 24;
      MatMul overlapping = p;
      overlapping.strideA = 16;
      for (const MatMul &variant :
           {broadcastA, broadcastB, both, spaced, overlapping})
        check(variant, types);
    }
}

TEST_P(MatMulTest, Bias) {
  for (const Types &types : kTypes) {
    check(dense(1, 9, 16, 24, false, true, true), types);
    check(dense(3, 8, 24, 16, false, false, true), types);
    check(dense(1, 1, 1, 1, true, false, true), types);
  }
}

TEST_P(MatMulTest, EmptyProductsDoNothing) {
  TestPlan plan(device->info());
  uint32_t a = plan.output(F32, {0, 4}), b = plan.output(F32, {4, 3});
  uint32_t c = plan.output(F32, {0, 3});
  plan.step("MatMul_0", {a, b}, {c}, dense(1, 0, 3, 4));
  EXPECT_TRUE(runPlan(plan));
}

TEST_P(MatMulTest, RepeatsAreBitEqual) {
  TestPlan plan(device->info());
  uint32_t a = plan.input(randomTensor(F16, {200, 300}, 1));
  uint32_t b = plan.input(randomTensor(F16, {300, 100}, 2));
  uint32_t c = plan.output(F32, {200, 100});
  plan.step("MatMul_0", {a, b}, {c}, dense(1, 200, 100, 300));
  auto run = runPlan(plan);
  ASSERT_TRUE(run);
  auto first = *run->bytes(c);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(run->runAll().ok());
    EXPECT_EQ(*run->bytes(c), first);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, MatMulTest, allDevices(), deviceLabel);

} // namespace
} // namespace halftone::runtime::test
