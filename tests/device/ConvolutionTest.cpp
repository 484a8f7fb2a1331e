// SPDX-License-Identifier: Apache-2.0
// Convolution steps of all directions against sums in double.
#include "tests/device/ConvolutionReference.h"
#include "tests/device/DeviceTest.h"
#include "tests/device/ProductBound.h"

#include <cmath>

namespace halftone::runtime::test {
namespace {

using enum ElementType;
using Direction = Convolution::Direction;

using Case = ConvolutionCase;

constexpr Direction kDirections[] = {
    Direction::Forward, Direction::DataGradient, Direction::WeightGradient};

/// Three spatial dimensions, not dilated.
Case solid(int64_t batch, int64_t channels, int64_t filters, int64_t group,
           const Shape &input, const Shape &kernel, const Shape &strides,
           const Shape &padsBegin, const Shape &padsEnd) {
  return {batch,  channels, filters,   group,   input,
          kernel, strides,  padsBegin, padsEnd, {1, 1, 1}};
}

const std::vector<Case> kCases = {
    // A plain 3x3, and the same with stride, asymmetric pads and dilation.
    {2, 8, 16, 1, {9, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 16, 8, 1, {9, 8}, {3, 3}, {2, 2}, {0, 1}, {1, 0}, {1, 1}},
    {1, 8, 8, 1, {11, 10}, {3, 3}, {1, 2}, {2, 2}, {2, 2}, {2, 2}},
    // Points, with and without stride (some inputs unread).
    {3, 16, 24, 1, {5, 6}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {2, 8, 8, 1, {7, 7}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
    // Odd channels, even kernels, one channel in, one filter out.
    {2, 3, 5, 1, {8, 9}, {2, 4}, {1, 1}, {0, 1}, {1, 2}, {1, 1}},
    {4, 1, 8, 1, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 7, 1, 1, {6, 6}, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}},
    // A stem: 7x7 with stride 2 over 3 channels.
    {1, 3, 16, 1, {17, 16}, {7, 7}, {2, 2}, {3, 3}, {3, 3}, {1, 1}},
    // The kernel covers the whole input.
    {2, 8, 8, 1, {4, 4}, {4, 4}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    // Groups, odd groups, depthwise with stride, depthwise with multiplier.
    {2, 16, 32, 4, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 9, 15, 3, {7, 5}, {3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 16, 16, 16, {8, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {1, 8, 16, 8, {6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    // One and three spatial dimensions.
    {2, 8, 12, 1, {17}, {5}, {2}, {2}, {1}, {1}},
    {2, 6, 6, 2, {20}, {3}, {1}, {2}, {2}, {2}},
    solid(1, 8, 8, 1, {5, 6, 7}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}),
    solid(2, 4, 6, 2, {4, 5, 6}, {2, 3, 1}, {1, 1, 2}, {0, 1, 0}, {1, 1, 0}),
    // Three dimensions: uneven pads alone, groups alone, both with many
    // channels.
    solid(1, 8, 8, 1, {4, 5, 6}, {2, 3, 1}, {1, 1, 2}, {0, 1, 0}, {1, 1, 0}),
    solid(2, 4, 6, 2, {4, 5, 6}, {3, 3, 1}, {1, 1, 2}, {1, 1, 0}, {1, 1, 0}),
    solid(2, 16, 16, 2, {4, 5, 6}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}),
    solid(1, 16, 16, 2, {4, 5, 6}, {3, 2, 3}, {1, 1, 1}, {1, 0, 1}, {1, 1, 2}),
    // Weights that meet nothing but padding, depthwise and not.
    solid(4, 8, 16, 8, {5, 2, 1}, {5, 3, 3}, {1, 1, 1}, {2, 1, 1}, {2, 1, 1}),
    {4,
     8,
     8,
     8,
     {5, 3, 4},
     {2, 5, 3},
     {1, 1, 3},
     {1, 1, 0},
     {1, 2, 1},
     {2, 1, 1}},
    solid(2, 8, 8, 8, {3, 1, 2}, {3, 3, 5}, {1, 1, 1}, {1, 1, 2}, {1, 1, 2}),
    {2, 8, 16, 8, {4, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 8, 8, 1, {1, 6}, {3, 5}, {1, 1}, {1, 4}, {1, 0}, {1, 1}},
};

testing::Message describe(const Case &c, Direction direction, bool channelsLast,
                          ElementType in, ElementType out) {
  return testing::Message()
         << c << " direction " << static_cast<int>(direction)
         << (channelsLast ? " channels last " : " channels first ")
         << elementName(in) << " to " << elementName(out);
}

class ConvolutionTest : public DeviceTest {
protected:
  /// A plan of one convolution, and its operands.
  struct Convolved {
    Convolved(const DeviceInfo &device) : plan(device) {}
    TestPlan plan;
    TestTensor left{}, right{};   ///< In the step's order.
    size_t first, second, result; ///< Which of x, w and y they are.
    uint32_t output;

    /// Adds the terms to the sums of the results they belong to.
    void addTerms(const Case &c, bool channelsLast, const TermFilter &filter,
                  ExactSums &sums) const {
      forEachTerm(c, channelsLast, filter, [&](size_t x, size_t w, size_t y) {
        const size_t at[3] = {x, w, y};
        sums.add(at[result], left.values[at[first]] * right.values[at[second]]);
      });
    }
  };

  Convolved build(const Case &c, Direction direction, bool channelsLast,
                  ElementType in, ElementType out) {
    std::vector<Shape> shapes = c.shapes(channelsLast);
    Convolved made(device->info());
    made.result = direction == Direction::Forward        ? 2
                  : direction == Direction::DataGradient ? 0
                                                         : 1;
    // Inputs in the plan's order: x w, dy w, x dy.
    made.first = direction == Direction::DataGradient ? 2 : 0;
    made.second = 3 - made.first - made.result;
    made.left = randomTensor(in, shapes[made.first], 1);
    made.right = randomTensor(in, shapes[made.second], 2);
    uint32_t a = made.plan.input(made.left), b = made.plan.input(made.right);
    made.output = made.plan.output(out, shapes[made.result]);
    Convolution step{direction,   c.group,      c.strides, c.padsBegin,
                     c.dilations, channelsLast, false};
    step.pads.insert(step.pads.end(), c.padsEnd.begin(), c.padsEnd.end());
    made.plan.step("Conv_0", {a, b}, {made.output}, step);
    return made;
  }

  void check(const Case &c, Direction direction, bool channelsLast,
             ElementType in, ElementType out) {
    SCOPED_TRACE(describe(c, direction, channelsLast, in, out));
    Convolved made = build(c, direction, channelsLast, in, out);
    ExactSums exact(made.plan.plan.buffers[made.output].elements);
    made.addTerms(c, channelsLast, {}, exact);
    auto run = runPlan(made.plan);
    ASSERT_TRUE(run);
    auto before = *run->bytes(made.output);
    ASSERT_TRUE(run->runAll().ok());
    EXPECT_EQ(*run->bytes(made.output), before) << "a second run differs";
    EXPECT_TRUE(withinOneRounding(*run->read(made.output), exact));
    EXPECT_TRUE(*run->gapsUntouched());
  }

  /// Works out a few results only, and holds their error together to what
  /// float32 sums (bfloat16: one rounding) leave: TF32 exceeds it.
  void checkSamples(const Case &c, Direction direction, bool channelsLast,
                    ElementType type, ElementType out) {
    SCOPED_TRACE(describe(c, direction, channelsLast, type, out));
    Convolved made = build(c, direction, channelsLast, type, out);
    ExactSums exact(made.plan.plan.buffers[made.output].elements);
    TermFilter filter;
    if (direction != Direction::WeightGradient)
      filter.pictures = {c.batch - 1};
    if (direction != Direction::DataGradient)
      filter.filters = {0, c.filters - 1};
    if (direction != Direction::Forward)
      filter.channels = {0, c.channels / c.group - 1};
    made.addTerms(c, channelsLast, filter, exact);
    auto run = runPlan(made.plan);
    ASSERT_TRUE(run);
    TestTensor results = *run->read(made.output);
    double error = 0, norm = 0, terms = 0;
    for (size_t i = 0; i < exact.sum.size(); ++i)
      if (exact.terms[i] != 0) {
        error += std::pow(results.values[i] - exact.sum[i], 2);
        norm += std::pow(exact.sum[i], 2);
        terms = std::max(terms, static_cast<double>(exact.terms[i]));
      }
    // A sum of n random terms in order is off by up to sqrt(n / 2) roundings;
    // tensor cores, which low types run on, cut off instead of rounding.
    double unit = type == F32 ? 0x1p-23 : 0x1p-22;
    double allowed = out == F32 ? 1e-6 + unit * std::sqrt(terms) : 2.5e-3;
    EXPECT_LE(std::sqrt(error / norm), allowed);
  }

  void checkAll(ElementType type) {
    for (Direction direction : kDirections)
      for (const Case &c : kCases)
        for (bool channelsLast : {false, true})
          check(c, direction, channelsLast, type, type);
  }
};

TEST_P(ConvolutionTest, Float32) { checkAll(F32); }
TEST_P(ConvolutionTest, Float16) { checkAll(F16); }
TEST_P(ConvolutionTest, Bfloat16) { checkAll(BF16); }

/// Sizes for which libraries choose other algorithms.
TEST_P(ConvolutionTest, LargeOnes) {
  const std::vector<Case> cases = {
      {32, 512, 512, 1, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {8, 64, 64, 1, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {8, 256, 128, 1, {28, 28}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
      {4, 3, 64, 1, {112, 112}, {7, 7}, {2, 2}, {3, 3}, {3, 3}, {1, 1}},
      {8, 128, 128, 1, {28, 28}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
  };
  for (const Case &c : cases)
    for (Direction direction : kDirections)
      for (bool channelsLast : {false, true})
        for (ElementType type : {F32, BF16})
          checkSamples(c, direction, channelsLast, type, type);
  // As plans have it: the gradient of a weight in its master copy's type.
  for (const Case &c : cases)
    for (bool channelsLast : {false, true})
      for (ElementType type : {F16, BF16})
        checkSamples(c, Direction::WeightGradient, channelsLast, type, F32);
}

TEST_P(ConvolutionTest, LowInputsWithFloat32Results) {
  for (Direction direction : kDirections)
    for (const Case &c : kCases)
      for (bool channelsLast : {false, true})
        for (ElementType in : {F16, BF16})
          check(c, direction, channelsLast, in, F32);
}

INSTANTIATE_TEST_SUITE_P(Devices, ConvolutionTest, allDevices(), deviceLabel);

} // namespace
} // namespace halftone::runtime::test
