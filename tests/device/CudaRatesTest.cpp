// SPDX-License-Identifier: Apache-2.0
// How fast the libraries run through plans: numbers to look at, not limits, so
// they are disabled (--gtest_also_run_disabled_tests shows them).
#include "tests/device/DeviceTest.h"

#include <chrono>
#include <fmt/format.h>

namespace halftone::runtime::test {
namespace {

using enum ElementType;
using Clock = std::chrono::steady_clock;
using Direction = Convolution::Direction;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class CudaRatesTest : public DeviceTest {
protected:
  /// Prepares a plan of one step repeated `kRepeats` times, runs it, and prints
  /// what it took. Contents are fills: rates of matrix units on them are a
  /// little above those on random data.
  void measure(const std::string &name, TestPlan &plan, double operations) {
    constexpr size_t kRepeats = 20;
    Step step = plan.plan.train.steps.front();
    plan.plan.train.steps.assign(kRepeats, step);
    auto memory = device->allocate(plan.plan.arenas[0].bytes, "rates");
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    const uint32_t pattern = 0x3e123f87;
    ASSERT_TRUE(device
                    ->fill(Queue::Compute, memory->data(),
                           std::as_bytes(std::span(&pattern, 1)),
                           plan.plan.arenas[0].bytes / 4)
                    .ok());
    auto begin = Clock::now();
    auto executable = device->prepare(std::make_shared<Plan>(plan.plan),
                                      {memory->data()}, {ProgramKind::Train});
    double prepared = secondsSince(begin);
    ASSERT_TRUE(executable.ok()) << executable.status().message();
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(device->synchronize().ok());
      begin = Clock::now();
      ASSERT_TRUE((*executable)->run(ProgramKind::Train, 0, kRepeats).ok());
      ASSERT_TRUE(device->synchronize().ok());
      best = std::min(best, secondsSince(begin) / kRepeats);
    }
    fmt::print("{:44} {:9.1f} us {:8.1f} TFLOP/s, prepared in {:7.1f} ms, "
               "workspace {:.1f} MiB\n",
               name, best * 1e6, operations / best * 1e-12, prepared * 1e3,
               static_cast<double>(device->memory()->usedBytes -
                                   plan.plan.arenas[0].bytes) /
                   0x1p20);
  }

  void product(ElementType type, ElementType result, int64_t m, int64_t n,
               int64_t k, bool bias) {
    TestPlan plan(device->info());
    std::vector<uint32_t> inputs{plan.output(type, {m, k}),
                                 plan.output(type, {k, n})};
    if (bias)
      inputs.push_back(plan.output(result, {n}));
    uint32_t c = plan.output(result, {m, n});
    MatMul step = plainProduct(m, n, k);
    step.bias = bias;
    plan.step("MatMul_0", inputs, {c}, step);
    measure(fmt::format("product {} to {} {}x{}x{}{}", elementName(type),
                        elementName(result), m, n, k, bias ? " + bias" : ""),
            plan, 2.0 * double(m) * double(n) * double(k));
  }

  /// Square images and kernels, padded to keep the size; batch 32.
  void convolution(ElementType type, ElementType result, Direction direction,
                   bool channelsLast, int64_t channels, int64_t filters,
                   int64_t size, int64_t kernel, int64_t stride) {
    constexpr int64_t kBatch = 32;
    int64_t out = (size - 1) / stride + 1, pad = kernel / 2;
    auto shaped = [&](int64_t first, int64_t channel, int64_t side) {
      return channelsLast ? Shape{first, side, side, channel}
                          : Shape{first, channel, side, side};
    };
    TestPlan plan(device->info());
    uint32_t x = plan.output(type, shaped(kBatch, channels, size));
    uint32_t w =
        plan.output(direction == Direction::WeightGradient ? result : type,
                    shaped(filters, channels, kernel));
    uint32_t y = plan.output(type, shaped(kBatch, filters, out));
    Convolution step{
        direction,    1,    {stride, stride}, {pad, pad, pad, pad}, {1, 1},
        channelsLast, false};
    if (direction == Direction::Forward)
      plan.step("Conv_0", {x, w}, {y}, step);
    else if (direction == Direction::DataGradient)
      plan.step("Conv_0", {y, w}, {x}, step);
    else
      plan.step("Conv_0", {x, y}, {w}, step);
    measure(fmt::format("conv {} {} {} to {} {}->{} {}^2 k{} s{}",
                        static_cast<int>(direction),
                        channelsLast ? "NHWC" : "NCHW", elementName(type),
                        elementName(result), channels, filters, size, kernel,
                        stride),
            plan,
            2.0 * kBatch * double(filters * channels) *
                double(out * out * kernel * kernel));
  }
};

TEST_P(CudaRatesTest, DISABLED_Products) {
  for (ElementType type : {BF16, F16}) {
    product(type, type, 8192, 8192, 8192, false);
    product(type, type, 16384, 3072, 768, true);
    product(type, type, 16384, 768, 3072, true);
    product(type, F32, 16384, 768, 3072, false);
  }
  product(F32, F32, 4096, 4096, 4096, false);
}

TEST_P(CudaRatesTest, DISABLED_Convolutions) {
  struct Kind {
    ElementType type, out;
    bool channelsLast;
  };
  for (auto [type, out, last] : {Kind{BF16, BF16, true},
                                 {BF16, F32, true},
                                 {BF16, F32, false},
                                 {F32, F32, true},
                                 {F32, F32, false}})
    for (Direction direction : {Direction::Forward, Direction::DataGradient,
                                Direction::WeightGradient}) {
      if (type != out && direction != Direction::WeightGradient)
        continue;
      convolution(type, out, direction, last, 64, 64, 56, 3, 1);
      convolution(type, out, direction, last, 256, 128, 56, 1, 1);
      convolution(type, out, direction, last, 128, 128, 56, 3, 2);
      convolution(type, out, direction, last, 512, 512, 7, 3, 1);
      if (direction != Direction::DataGradient)
        convolution(type, out, direction, last, 3, 64, 224, 7, 2);
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, CudaRatesTest, testing::Values("cuda:0"),
                         deviceLabel);

} // namespace
} // namespace halftone::runtime::test
