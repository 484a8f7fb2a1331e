// SPDX-License-Identifier: Apache-2.0
// Convolution steps of all directions against sums in double.
#include "tests/device/DeviceTest.h"
#include "tests/device/ProductBound.h"

#include <array>

namespace halftone::runtime::test {
namespace {

using enum ElementType;
using Direction = Convolution::Direction;

/// One convolution; spatial lists have 1 to 3 entries.
struct Case {
  int64_t batch, channels, filters, group;
  std::vector<int64_t> input, kernel, strides, padsBegin, padsEnd, dilations;

  int64_t output(size_t i) const {
    int64_t span = (kernel[i] - 1) * dilations[i] + 1;
    return (input[i] + padsBegin[i] + padsEnd[i] - span) / strides[i] + 1;
  }
};

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
    {1,
     8,
     8,
     1,
     {5, 6, 7},
     {3, 3, 3},
     {1, 2, 1},
     {1, 1, 1},
     {1, 1, 1},
     {1, 1, 1}},
    {2,
     4,
     6,
     2,
     {4, 5, 6},
     {2, 3, 1},
     {1, 1, 2},
     {0, 1, 0},
     {1, 1, 0},
     {1, 1, 1}},
};

std::ostream &operator<<(std::ostream &stream, const Case &c) {
  return stream << "batch " << c.batch << " channels " << c.channels
                << " filters " << c.filters << " group " << c.group << " input "
                << formatShape(c.input) << " kernel " << formatShape(c.kernel)
                << " strides " << formatShape(c.strides) << " pads "
                << formatShape(c.padsBegin) << formatShape(c.padsEnd)
                << " dilations " << formatShape(c.dilations);
}

Shape shapeInMemory(int64_t first, int64_t channel,
                    const std::vector<int64_t> &spatial, bool channelsLast) {
  Shape shape{first};
  if (!channelsLast)
    shape.push_back(channel);
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  if (channelsLast)
    shape.push_back(channel);
  return shape;
}

/// Where (first, channel, position) lies; positions have three entries, the
/// leading ones 0 where there are fewer dimensions.
struct Index {
  std::array<int64_t, 3> spatial{1, 1, 1};
  int64_t channels;
  bool channelsLast;

  Index(int64_t channels, const std::vector<int64_t> &sizes, bool channelsLast)
      : channels(channels), channelsLast(channelsLast) {
    std::copy(sizes.rbegin(), sizes.rend(), spatial.rbegin());
  }
  size_t operator()(int64_t first, int64_t channel, int64_t z, int64_t y,
                    int64_t x) const {
    int64_t point = (z * spatial[1] + y) * spatial[2] + x;
    int64_t points = spatial[0] * spatial[1] * spatial[2];
    return static_cast<size_t>(
        channelsLast ? (first * points + point) * channels + channel
                     : (first * channels + channel) * points + point);
  }
};

std::array<int64_t, 3> threeOf(const std::vector<int64_t> &values,
                               int64_t missing) {
  std::array<int64_t, 3> three{missing, missing, missing};
  std::copy(values.rbegin(), values.rend(), three.rbegin());
  return three;
}

/// Calls visit(x, w, y) with the offsets of the three factors of every term.
template <typename Visit>
void forEachTerm(const Case &c, const std::vector<int64_t> &outputs,
                 bool channelsLast, Visit visit) {
  int64_t inner = c.channels / c.group, outer = c.filters / c.group;
  Index xAt(c.channels, c.input, channelsLast);
  Index wAt(inner, c.kernel, channelsLast);
  Index yAt(c.filters, outputs, channelsLast);
  auto stride = threeOf(c.strides, 1), pad = threeOf(c.padsBegin, 0),
       dilation = threeOf(c.dilations, 1);
  std::array<int64_t, 3> o, k, i;
  auto inside = [&] {
    for (size_t d = 0; d < 3; ++d) {
      i[d] = o[d] * stride[d] - pad[d] + k[d] * dilation[d];
      if (i[d] < 0 || i[d] >= xAt.spatial[d])
        return false;
    }
    return true;
  };
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t f = 0; f < c.filters; ++f)
      for (o[0] = 0; o[0] < yAt.spatial[0]; ++o[0])
        for (o[1] = 0; o[1] < yAt.spatial[1]; ++o[1])
          for (o[2] = 0; o[2] < yAt.spatial[2]; ++o[2])
            for (k[0] = 0; k[0] < wAt.spatial[0]; ++k[0])
              for (k[1] = 0; k[1] < wAt.spatial[1]; ++k[1])
                for (k[2] = 0; k[2] < wAt.spatial[2]; ++k[2])
                  if (inside())
                    for (int64_t j = 0; j < inner; ++j)
                      visit(xAt(n, f / outer * inner + j, i[0], i[1], i[2]),
                            wAt(f, j, k[0], k[1], k[2]),
                            yAt(n, f, o[0], o[1], o[2]));
}

class ConvolutionTest : public DeviceTest {
protected:
  void check(const Case &c, Direction direction, bool channelsLast,
             ElementType in, ElementType out) {
    SCOPED_TRACE(testing::Message()
                 << c << " direction " << static_cast<int>(direction)
                 << (channelsLast ? " channels last " : " channels first ")
                 << elementName(in) << " to " << elementName(out));
    std::vector<int64_t> outputs;
    for (size_t i = 0; i < c.input.size(); ++i)
      outputs.push_back(c.output(i));
    Shape shapes[3] = {
        shapeInMemory(c.batch, c.channels, c.input, channelsLast),
        shapeInMemory(c.filters, c.channels / c.group, c.kernel, channelsLast),
        shapeInMemory(c.batch, c.filters, outputs, channelsLast)};
    size_t result = direction == Direction::Forward        ? 2
                    : direction == Direction::DataGradient ? 0
                                                           : 1;
    // Inputs in the plan's order: x w, dy w, x dy.
    size_t first = direction == Direction::DataGradient ? 2 : 0;
    size_t second = 3 - first - result;
    TestTensor left = randomTensor(in, shapes[first], 1);
    TestTensor right = randomTensor(in, shapes[second], 2);

    ExactSums exact(*elementCount(shapes[result]));
    forEachTerm(c, outputs, channelsLast, [&](size_t x, size_t w, size_t y) {
      const size_t at[3] = {x, w, y};
      exact.add(at[result], left.values[at[first]] * right.values[at[second]]);
    });

    TestPlan plan(device->info());
    uint32_t a = plan.input(left), b = plan.input(right);
    uint32_t y = plan.output(out, shapes[result]);
    Convolution step{direction,   c.group,      c.strides, c.padsBegin,
                     c.dilations, channelsLast, false};
    step.pads.insert(step.pads.end(), c.padsEnd.begin(), c.padsEnd.end());
    plan.step("Conv_0", {a, b}, {y}, step);
    auto run = runPlan(plan);
    ASSERT_TRUE(run);
    auto before = *run->bytes(y);
    ASSERT_TRUE(run->runAll().ok());
    EXPECT_EQ(*run->bytes(y), before) << "a second run differs";
    EXPECT_TRUE(withinOneRounding(*run->read(y), exact));
    EXPECT_TRUE(*run->gapsUntouched());
  }

  void checkAll(Direction direction, ElementType in, ElementType out) {
    for (const Case &c : kCases)
      for (bool channelsLast : {false, true})
        check(c, direction, channelsLast, in, out);
  }
};

TEST_P(ConvolutionTest, ForwardFloat32) {
  checkAll(Direction::Forward, F32, F32);
}
TEST_P(ConvolutionTest, ForwardFloat16) {
  checkAll(Direction::Forward, F16, F16);
}
TEST_P(ConvolutionTest, ForwardBfloat16) {
  checkAll(Direction::Forward, BF16, BF16);
}
TEST_P(ConvolutionTest, DataGradientFloat32) {
  checkAll(Direction::DataGradient, F32, F32);
}
TEST_P(ConvolutionTest, DataGradientFloat16) {
  checkAll(Direction::DataGradient, F16, F16);
}
TEST_P(ConvolutionTest, DataGradientBfloat16) {
  checkAll(Direction::DataGradient, BF16, BF16);
}
TEST_P(ConvolutionTest, WeightGradientFloat32) {
  checkAll(Direction::WeightGradient, F32, F32);
}
TEST_P(ConvolutionTest, WeightGradientFloat16) {
  checkAll(Direction::WeightGradient, F16, F16);
}
TEST_P(ConvolutionTest, WeightGradientBfloat16) {
  checkAll(Direction::WeightGradient, BF16, BF16);
}

TEST_P(ConvolutionTest, LowInputsWithFloat32Results) {
  for (Direction direction :
       {Direction::Forward, Direction::DataGradient, Direction::WeightGradient})
    for (ElementType in : {F16, BF16})
      check(kCases[0], direction, true, in, F32);
}

INSTANTIATE_TEST_SUITE_P(Devices, ConvolutionTest, allDevices(), deviceLabel);

} // namespace
} // namespace halftone::runtime::test
