// SPDX-License-Identifier: Apache-2.0
// Everything in three dimensions; leading ones of size one where there are
// fewer.
#include "tests/device/ConvolutionReference.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace halftone::runtime::test {
namespace {

using Three = std::array<int64_t, 3>;

Three threeOf(const std::vector<int64_t> &values, int64_t missing) {
  Three three{missing, missing, missing};
  std::copy(values.rbegin(), values.rend(), three.rbegin());
  return three;
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

/// Where (first, channel, point) lies.
struct Index {
  Three spatial;
  int64_t channels;
  bool channelsLast;

  size_t operator()(int64_t first, int64_t channel, const Three &at) const {
    int64_t point = (at[0] * spatial[1] + at[1]) * spatial[2] + at[2];
    int64_t points = spatial[0] * spatial[1] * spatial[2];
    return static_cast<size_t>(
        channelsLast ? (first * points + point) * channels + channel
                     : (first * channels + channel) * points + point);
  }
};

template <typename Visit> void forEachPoint(const Three &sizes, Visit visit) {
  Three at;
  for (at[0] = 0; at[0] < sizes[0]; ++at[0])
    for (at[1] = 0; at[1] < sizes[1]; ++at[1])
      for (at[2] = 0; at[2] < sizes[2]; ++at[2])
        visit(at);
}

std::vector<int64_t> orAll(std::vector<int64_t> chosen, int64_t count) {
  if (chosen.empty()) {
    chosen.resize(static_cast<size_t>(count));
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  return chosen;
}

} // namespace

std::vector<int64_t> ConvolutionCase::output() const {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < input.size(); ++i) {
    int64_t span = (kernel[i] - 1) * dilations[i] + 1;
    sizes.push_back((input[i] + padsBegin[i] + padsEnd[i] - span) / strides[i] +
                    1);
  }
  return sizes;
}

std::vector<Shape> ConvolutionCase::shapes(bool channelsLast) const {
  return {shapeInMemory(batch, channels, input, channelsLast),
          shapeInMemory(filters, channels / group, kernel, channelsLast),
          shapeInMemory(batch, filters, output(), channelsLast)};
}

std::ostream &operator<<(std::ostream &stream, const ConvolutionCase &c) {
  return stream << "batch " << c.batch << " channels " << c.channels
                << " filters " << c.filters << " group " << c.group << " input "
                << formatShape(c.input) << " kernel " << formatShape(c.kernel)
                << " strides " << formatShape(c.strides) << " pads "
                << formatShape(c.padsBegin) << formatShape(c.padsEnd)
                << " dilations " << formatShape(c.dilations);
}

void forEachTerm(const ConvolutionCase &c, bool channelsLast,
                 const TermFilter &filter,
                 const std::function<void(size_t, size_t, size_t)> &visit) {
  int64_t inner = c.channels / c.group, outer = c.filters / c.group;
  Index xAt{threeOf(c.input, 1), c.channels, channelsLast};
  Index wAt{threeOf(c.kernel, 1), inner, channelsLast};
  Index yAt{threeOf(c.output(), 1), c.filters, channelsLast};
  Three stride = threeOf(c.strides, 1), pad = threeOf(c.padsBegin, 0),
        dilation = threeOf(c.dilations, 1);
  auto channels = orAll(filter.channels, inner);
  auto pictures = orAll(filter.pictures, c.batch);
  auto filters = orAll(filter.filters, c.filters);
  forEachPoint(yAt.spatial, [&](const Three &o) {
    forEachPoint(wAt.spatial, [&](const Three &k) {
      Three i;
      for (size_t d = 0; d < 3; ++d) {
        i[d] = o[d] * stride[d] - pad[d] + k[d] * dilation[d];
        if (i[d] < 0 || i[d] >= xAt.spatial[d])
          return;
      }
      for (int64_t n : pictures)
        for (int64_t f : filters)
          for (int64_t j : channels)
            visit(xAt(n, f / outer * inner + j, i), wAt(f, j, k), yAt(n, f, o));
    });
  });
}

} // namespace halftone::runtime::test
