// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of random shapes and addresses: libraries choose
// among many kernels, and some of them are wrong. HALFTONE_RANDOM_CASES sets
// how many (for a search on new hardware or with a new library).
#include "runtime/base/Philox.h"
#include "tests/device/DeviceTest.h"
#include "tests/device/OneConvolution.h"

#include <cstdlib>

namespace halftone::runtime::test {
namespace {

using enum ElementType;
using Direction = Convolution::Direction;

int64_t caseCount() {
  const char *wanted = std::getenv("HALFTONE_RANDOM_CASES");
  return wanted ? std::atoll(wanted) : 12;
}

/// Draws integers; equal numbers of cases give equal draws.
class Draw {
public:
  explicit Draw(int64_t seed) : seed(static_cast<uint64_t>(seed)) {}
  int64_t operator()(int64_t low, int64_t high) {
    uint32_t word = philoxBlock(seed, 77, next++)[0];
    return low + word % (high - low + 1);
  }
  int64_t of(const std::vector<int64_t> &values) {
    return values[static_cast<size_t>(
        (*this)(0, static_cast<int64_t>(values.size()) - 1))];
  }

private:
  uint64_t seed, next = 0;
};

ConvolutionCase drawConvolution(Draw &draw) {
  ConvolutionCase c;
  c.group = draw.of({1, 1, 1, 2, 3, 4, 8});
  c.batch = draw(1, 3);
  c.channels = c.group * draw.of({1, 2, 3, 4, 8, 9});
  c.filters = c.group * draw.of({1, 2, 3, 4, 8});
  for (int64_t i = draw(1, 3); i > 0; --i) {
    int64_t kernel = draw(1, 4), dilation = draw(1, 2);
    int64_t span = (kernel - 1) * dilation + 1;
    c.kernel.push_back(kernel);
    c.dilations.push_back(dilation);
    c.strides.push_back(draw.of({1, 1, 2, 3}));
    c.padsBegin.push_back(draw(0, kernel - 1));
    c.padsEnd.push_back(draw(0, 2) ? c.padsBegin.back() : draw(0, kernel - 1));
    c.input.push_back(span + draw(0, 4));
  }
  return c;
}

class RandomCasesTest : public DeviceTest {
protected:
  void checkConvolution(const ConvolutionCase &c,
                        const OneConvolution::Form &form) {
    SCOPED_TRACE(testing::Message() << c << form);
    OneConvolution made(device->info(), c, form);
    auto run = runPlan(made.plan);
    ASSERT_TRUE(run);
    EXPECT_TRUE(withinOneRounding(*run->read(made.output), made.exact()));
    EXPECT_TRUE(*run->gapsUntouched());
  }

  void checkProduct(Draw &draw, ElementType type) {
    // Multiples of 16 bytes, for which there are kernels of their own, too.
    int64_t unit = draw.of({1, 1, 8, 16});
    int64_t m = unit * draw(1, 70 / unit), n = unit * draw(1, 70 / unit),
            k = unit * draw(1, 90 / unit);
    int64_t shift = draw.of({0, 0, 1, 2, 3, 4, 8});
    MatMul p{.batch = draw.of({1, 1, 3}),
             .m = m,
             .n = n,
             .k = k,
             .transposeA = draw(0, 1) == 1,
             .transposeB = draw(0, 1) == 1,
             .strideA = m * k,
             .strideB = k * n,
             .strideC = m * n,
             .bias = draw(0, 1) == 1,
             .tf32 = false};
    SCOPED_TRACE(testing::Message()
                 << "batch " << p.batch << " m " << m << " n " << n << " k "
                 << k << " transposes " << p.transposeA << p.transposeB
                 << " bias " << p.bias << " shift " << shift << " "
                 << elementName(type));
    TestTensor a = randomTensor(type, {p.batch * m * k}, 1),
               b = randomTensor(type, {p.batch * k * n}, 2),
               bias = randomTensor(type, {n}, 3);
    TestPlan plan(device->info());
    std::vector<uint32_t> inputs{plan.shifted(a, shift),
                                 plan.shifted(b, shift)};
    if (p.bias)
      inputs.push_back(plan.shifted(bias, shift));
    uint32_t whole = plan.output(type, {p.batch * m * n + shift});
    uint32_t c =
        plan.view(whole, static_cast<uint64_t>(shift), {p.batch * m * n});
    plan.step("MatMul_0", inputs, {c}, p);
    auto run = runPlan(plan);
    ASSERT_TRUE(run);
    ExactSums exact(static_cast<size_t>(p.batch * m * n));
    for (int64_t i = 0; i < p.batch * m * n; ++i) {
      int64_t batch = i / (m * n), row = i / n % m, column = i % n;
      for (int64_t j = 0; j < k; ++j)
        exact.add(
            static_cast<size_t>(i),
            a.values[static_cast<size_t>(
                batch * m * k + (p.transposeA ? j * m + row : row * k + j))] *
                b.values[static_cast<size_t>(
                    batch * k * n +
                    (p.transposeB ? column * k + j : j * n + column))]);
      if (p.bias)
        exact.add(static_cast<size_t>(i),
                  bias.values[static_cast<size_t>(column)]);
    }
    EXPECT_TRUE(withinOneRounding(*run->read(c), exact));
  }
};

TEST_P(RandomCasesTest, Convolutions) {
  for (int64_t i = 0; i < caseCount(); ++i) {
    Draw draw(i);
    ConvolutionCase c = drawConvolution(draw);
    int64_t shift = draw.of({0, 0, 0, 1, 4});
    for (Direction direction : {Direction::Forward, Direction::DataGradient,
                                Direction::WeightGradient})
      for (bool last : {false, true})
        for (ElementType type : {F32, F16, BF16})
          checkConvolution(c, {direction, last, type, type, shift});
  }
}

TEST_P(RandomCasesTest, Products) {
  for (int64_t i = 0; i < caseCount() * 10; ++i) {
    Draw draw(1000000 + i);
    for (ElementType type : {F32, F16, BF16})
      checkProduct(draw, type);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RandomCasesTest, allDevices(), deviceLabel);

} // namespace
} // namespace halftone::runtime::test
