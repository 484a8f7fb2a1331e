// SPDX-License-Identifier: Apache-2.0
// What only the CPU device promises: partitions and thread counts change
// nothing, C library calls resolve, conversions equal their definitions.
#include "runtime/base/Float16.h"
#include "runtime/libs/onednn/WidenRound.h"
#include "tests/device/DeviceTest.h"
#include "tests/device/TestKernels.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <omp.h>

namespace halftone::runtime::test {
namespace {

using enum ElementType;

class CpuTest : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    threads = omp_get_max_threads();
  }
  void TearDown() override { omp_set_num_threads(threads); }

  int threads = 1;
};

TEST_P(CpuTest, PartitionsAndThreadsGiveBitEqualResults) {
  constexpr int64_t kRows = 1003;
  TestTensor x = randomTensor(F32, {kRows, 64}, 1);
  std::vector<float> expected;
  for (size_t row = 0; row < kRows; ++row) {
    float sum = 0;
    for (size_t j = 0; j < 64; ++j)
      sum += static_cast<float>(x.values[row * 64 + j]);
    expected.push_back(sum);
  }
  for (int count : {1, 2, 3, 7})
    for (int64_t grain :
         {int64_t{1}, int64_t{10}, int64_t{400}, int64_t{1} << 40}) {
      omp_set_num_threads(count);
      TestPlan plan(device->info());
      uint32_t in = plan.input(x), out = plan.output(F32, {kRows});
      plan.step(
          "Sum", {in}, {out},
          Launch{plan.kernel("row_sum", bitcode("row_sum"), kRows, grain)});
      auto run = runPlan(plan);
      ASSERT_TRUE(run);
      auto bytes = *run->bytes(out);
      EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0)
          << count << " threads, grain " << grain;
      EXPECT_TRUE(*run->gapsUntouched());
    }
}

TEST_P(CpuTest, LibraryFunctionsComeFromTheProcess) {
  TestTensor x = randomTensor(F32, {100}, 1);
  TestPlan plan(device->info());
  uint32_t in = plan.input(x), out = plan.output(F32, {100});
  plan.step("Exp", {in}, {out},
            Launch{plan.kernel("exp", bitcode("exp"), 100)});
  auto run = runPlan(plan);
  ASSERT_TRUE(run);
  TestTensor result = *run->read(out);
  for (size_t i = 0; i < 100; ++i)
    EXPECT_EQ(result.values[i], std::exp(static_cast<float>(x.values[i])));
}

TEST_P(CpuTest, WideningEqualsItsDefinition) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(all.size());
  for (ElementType type : {F16, BF16}) {
    onednn::widen(type, all.data(), wide.data(),
                  static_cast<int64_t>(all.size()));
    for (size_t i = 0; i < all.size(); ++i) {
      float expected =
          type == F16 ? float16ToFloat(all[i]) : bfloat16ToFloat(all[i]);
      if (expected == expected)
        ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]),
                  std::bit_cast<uint32_t>(expected))
            << i;
      else
        ASSERT_NE(wide[i], wide[i]) << i;
    }
  }
}

TEST_P(CpuTest, RoundingEqualsItsDefinition) {
  // Every pattern of the upper half with the lower halves around a tie.
  std::vector<float> values;
  for (uint32_t high = 0; high < 65536; ++high)
    for (uint32_t low : {0u, 1u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u,
                         0x8001u, 0xf000u})
      values.push_back(std::bit_cast<float>(high << 16 | low));
  for (ElementType type : {F16, BF16})
    for (size_t count : {values.size(), size_t{13}}) {
      std::vector<uint16_t> low(count);
      onednn::round(type, values.data(), low.data(),
                    static_cast<int64_t>(count));
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(low[i], type == F16 ? floatToFloat16(values[i])
                                      : floatToBfloat16(values[i]))
            << std::bit_cast<uint32_t>(values[i]);
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, CpuTest, testing::Values("cpu"), deviceLabel);

} // namespace
} // namespace halftone::runtime::test
