// SPDX-License-Identifier: Apache-2.0
// Convolution steps of all directions against sums in double.
#include "tests/device/DeviceTest.h"
#include "tests/device/OneConvolution.h"

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

class ConvolutionTest : public DeviceTest {
protected:
  void check(const Case &c, Direction direction, bool channelsLast,
             ElementType in, ElementType out) {
    OneConvolution::Form form{direction, channelsLast, in, out};
    SCOPED_TRACE(testing::Message() << c << form);
    OneConvolution made(device->info(), c, form);
    auto run = runPlan(made.plan);
    ASSERT_TRUE(run);
    auto before = *run->bytes(made.output);
    ASSERT_TRUE(run->runAll().ok());
    EXPECT_EQ(*run->bytes(made.output), before) << "a second run differs";
    EXPECT_TRUE(withinOneRounding(*run->read(made.output), made.exact()));
    EXPECT_TRUE(*run->gapsUntouched());
  }

  /// Works out a few results only, and holds their error together to what
  /// float32 sums (bfloat16: one rounding) leave: TF32 exceeds it.
  void checkSamples(const Case &c, Direction direction, bool channelsLast,
                    ElementType type, ElementType out) {
    OneConvolution::Form form{direction, channelsLast, type, out};
    SCOPED_TRACE(testing::Message() << c << form);
    OneConvolution made(device->info(), c, form);
    TermFilter filter;
    if (direction != Direction::WeightGradient)
      filter.pictures = {c.batch - 1};
    if (direction != Direction::DataGradient)
      filter.filters = {0, c.filters - 1};
    if (direction != Direction::Forward)
      filter.channels = {0, c.channels / c.group - 1};
    ExactSums exact = made.exact(filter);
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
