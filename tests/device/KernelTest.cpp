// SPDX-License-Identifier: Apache-2.0
// Launches, copies, ranges of steps, and refusals, on every device.
#include "runtime/base/Float16.h"
#include "tests/device/DeviceTest.h"
#include "tests/device/TestKernels.h"

#include <cmath>

namespace halftone::runtime::test {
namespace {

using enum ElementType;

class KernelTest : public DeviceTest {
protected:
  std::string code(const std::string &name, int64_t count) {
    return kernelCode(device->info().target, name, count);
  }
  Status startStatus(const TestPlan &plan) {
    return TestRun::start(*device, plan).status();
  }
};

TEST_P(KernelTest, RoundsAsWritten) {
  constexpr int64_t kCount = 1000;
  TestTensor x = randomTensor(F32, {kCount}, 1),
             y = randomTensor(F32, {kCount}, 2);
  x.values[0] = 1e-39;
  y.values[0] = -3e-40; // Subnormal results stay.
  TestPlan plan(device->info());
  std::vector<uint32_t> inputs{plan.input(x), plan.input(y)};
  uint32_t out = plan.output(F32, {kCount});
  plan.step("Axpy", inputs, {out},
            Launch{plan.kernel("axpy", code("axpy", kCount), kCount)});
  auto run = runPlan(plan);
  ASSERT_TRUE(run);
  TestTensor result = *run->read(out);
  for (size_t i = 0; i < kCount; ++i) {
    volatile float product = 0.1f * static_cast<float>(x.values[i]);
    float expected = product + static_cast<float>(y.values[i]);
    EXPECT_EQ(result.values[i], expected) << i;
  }
  EXPECT_NE(result.values[0], 0.0);
  EXPECT_TRUE(*run->gapsUntouched());
}

TEST_P(KernelTest, LowTypesWidenExactlyAndRoundOnce) {
  for (auto [type, name] :
       {std::pair(F16, "half"), std::pair(BF16, "bfloat")}) {
    constexpr int64_t kCount = 777;
    TestTensor x = randomTensor(type, {kCount}, 1);
    x.values[1] = rounded(type, type == F16 ? 3e-6 : 3e-39);
    TestPlan plan(device->info());
    uint32_t in = plan.input(x), out = plan.output(type, {kCount});
    plan.step(name, {in}, {out},
              Launch{plan.kernel(name, code(name, kCount), kCount)});
    auto run = runPlan(plan);
    ASSERT_TRUE(run);
    TestTensor result = *run->read(out);
    for (size_t i = 0; i < kCount; ++i)
      EXPECT_EQ(result.values[i],
                rounded(type, static_cast<float>(x.values[i]) * 0.3f))
          << name << i;
    EXPECT_NE(result.values[1], 0.0);
  }
}

TEST_P(KernelTest, EqualNamesInTwoModulesStayApart) {
  TestPlan plan(device->info());
  TestTensor x = randomTensor(F32, {10}, 1);
  uint32_t first = plan.input(x), second = plan.input(x);
  uint32_t one = plan.kernel("increment", code("increment", 10), 10);
  uint32_t two = plan.kernel("increment", code("increment", 10), 10);
  plan.step("A", {}, {first}, Launch{one});
  plan.step("B", {}, {second}, Launch{two});
  auto run = runPlan(plan);
  ASSERT_TRUE(run);
  EXPECT_EQ(*run->bytes(first), *run->bytes(second));
}

TEST_P(KernelTest, CopiesWholeBuffersAndViews) {
  TestPlan plan(device->info());
  TestTensor x = randomTensor(BF16, {3, 1001}, 1);
  uint32_t in = plan.input(x), whole = plan.output(BF16, {3003}),
           part = plan.output(BF16, {1001});
  plan.step("Copy_0", {in}, {whole}, Copy{});
  plan.step("Copy_1", {plan.view(whole, 1001, {1001})}, {part}, Copy{});
  plan.step("Copy_2", {part}, {part}, Copy{});
  auto run = runPlan(plan);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->read(whole)->values, x.values);
  EXPECT_EQ(
      run->read(part)->values,
      std::vector<double>(x.values.begin() + 1001, x.values.begin() + 2002));
  EXPECT_TRUE(*run->gapsUntouched());
}

TEST_P(KernelTest, OverlappingCopyIsRefusedByNode) {
  TestPlan plan(device->info());
  uint32_t all = plan.output(F32, {100});
  plan.step("Slice_7", {plan.view(all, 0, {50})}, {plan.view(all, 10, {50})},
            Copy{});
  Status status = startStatus(plan);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("Slice_7"), std::string::npos)
      << status.message();
}

/// A chain in which every step reads what the one before wrote.
TEST_P(KernelTest, RangesOfStepsEqualTheWholeProgram) {
  auto build = [&](uint32_t &result) {
    TestPlan plan(device->info());
    uint32_t x = plan.input(randomTensor(F32, {32, 32}, 1));
    uint32_t y = plan.output(F32, {32, 32}), z = plan.output(F32, {32, 32});
    result = plan.output(F32, {32, 32});
    uint32_t increment = plan.kernel("increment", code("increment", 10), 1024);
    MatMul square = plainProduct(32, 32, 32);
    square.transposeB = true;
    plan.step("Inc_0", {}, {x}, Launch{increment});
    plan.step("MatMul_0", {x, x}, {y}, square);
    plan.step("Inc_1", {}, {y}, Launch{increment});
    plan.step("MatMul_1", {y, x}, {z}, square);
    plan.step("Copy_0", {z}, {result}, Copy{});
    return plan;
  };
  uint32_t result = 0;
  TestPlan plan = build(result);
  auto whole = runPlan(plan);
  ASSERT_TRUE(whole);
  auto started = TestRun::start(*device, plan);
  ASSERT_TRUE(started.ok());
  size_t steps = plan.plan.train.steps.size();
  for (size_t i = 0; i < steps; ++i)
    ASSERT_TRUE((*started)->run(i, i + 1).ok());
  EXPECT_EQ(*whole->bytes(result), *(*started)->bytes(result));
  ASSERT_TRUE(whole->runAll().ok());
  ASSERT_TRUE((*started)->run(0, 2).ok());
  ASSERT_TRUE((*started)->run(2, 2).ok());
  ASSERT_TRUE((*started)->run(2, steps).ok());
  EXPECT_EQ(*whole->bytes(result), *(*started)->bytes(result));
  EXPECT_FALSE(whole->run(0, steps + 1).ok());
  EXPECT_FALSE(whole->run(3, 2).ok());
}

TEST_P(KernelTest, DamagedCodeIsAnError) {
  std::string good = code("axpy", 4);
  for (const std::string &bad :
       {std::string(), std::string("no code at all"), std::string(4096, '\xa5'),
        good.substr(0, good.size() / 2), good.substr(0, good.size() * 7 / 8)}) {
    TestPlan plan(device->info());
    uint32_t x = plan.output(F32, {4});
    plan.step("Axpy", {x, x}, {x}, Launch{plan.kernel("axpy", bad, 4)});
    Status status = startStatus(plan);
    EXPECT_FALSE(status.ok()) << bad.size();
    EXPECT_FALSE(status.message().empty());
  }
}

TEST_P(KernelTest, MissingKernelsAndSymbolsAreNamed) {
  TestPlan plan(device->info());
  uint32_t x = plan.output(F32, {4});
  plan.step("Axpy", {x, x}, {x},
            Launch{plan.kernel("not_in_there", code("axpy", 4), 4)});
  Status status = startStatus(plan);
  EXPECT_NE(status.message().find("not_in_there"), std::string::npos)
      << status.message();

  TestPlan calling(device->info());
  x = calling.output(F32, {4});
  calling.step("Call", {}, {x},
               Launch{calling.kernel("missing", code("missing", 4), 4)});
  status = startStatus(calling);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("nobody_defines_this"), std::string::npos)
      << status.message();
}

TEST_P(KernelTest, PlansForNewerMachinesAreRefused) {
  TestPlan newer(device->info());
  newer.plan.architecture =
      device->info().target == "cpu" ? "x86-64-v9" : "sm_999";
  Status status = startStatus(newer);
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_NE(status.message().find(newer.plan.architecture), std::string::npos)
      << status.message();
}

INSTANTIATE_TEST_SUITE_P(Devices, KernelTest, allDevices(), deviceLabel);

} // namespace
} // namespace halftone::runtime::test
