// SPDX-License-Identifier: Apache-2.0
// What a convolution and its two gradients share: their sizes, and host loops
// over all multiply-adds.
#pragma once
#include "compiler/graph/ops/WindowGeometry.h"
#include <array>

namespace halftone::graph {

/// x [batch, channels, input...], w [filters, channels / group, kernel...], y
/// [batch, filters, output...]; with channelsLast the second is the last axis
/// of each.
struct ConvolutionShape {
  int64_t batch, channels, filters, group;
  bool channelsLast;
  WindowGeometry window;

  llvm::SmallVector<int64_t> x() const;
  llvm::SmallVector<int64_t> w() const;
  llvm::SmallVector<int64_t> y() const;

  double flops() const;
};

/// Fails, with a message at `location`, where ranks, channels, groups or the
/// window do not fit.
llvm::FailureOr<ConvolutionShape>
convolutionShape(std::optional<mlir::Location> location,
                 llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> w,
                 int64_t group, bool channelsLast,
                 const WindowAttributes &attributes);

/// Calls `fn(offset in x, offset in w, offset in y)` for each multiply-add.
template <typename Fn> void forEachProduct(const ConvolutionShape &s, Fn fn) {
  // One to three spatial axes become three.
  std::array<int64_t, 3> in{1, 1, 1}, kernel{1, 1, 1}, out{1, 1, 1},
      stride{1, 1, 1}, dilation{1, 1, 1}, pad{0, 0, 0};
  for (size_t axis = 0, at = 3 - s.window.rank(); at < 3; ++axis, ++at) {
    in[at] = s.window.input[axis], kernel[at] = s.window.kernel[axis],
    out[at] = s.window.output[axis];
    stride[at] = s.window.strides[axis],
    dilation[at] = s.window.dilations[axis], pad[at] = s.window.padsBegin[axis];
  }
  int64_t channelsPer = s.channels / s.group, filtersPer = s.filters / s.group;
  int64_t sizeX = in[0] * in[1] * in[2],
          sizeW = kernel[0] * kernel[1] * kernel[2],
          sizeY = out[0] * out[1] * out[2];
  // Elements from one position to the next, and from one channel to the next.
  bool last = s.channelsLast;
  int64_t nextX = last ? s.channels : 1, nextW = last ? channelsPer : 1,
          nextY = last ? s.filters : 1, channelX = last ? 1 : sizeX,
          channelW = last ? 1 : sizeW, channelY = last ? 1 : sizeY;
  auto rows = [&](int64_t x, int64_t w, int64_t y, std::array<int64_t, 3> tap) {
    for (int64_t o0 = 0; o0 < out[0]; ++o0)
      for (int64_t o1 = 0; o1 < out[1]; ++o1) {
        int64_t i0 = o0 * stride[0] + tap[0] * dilation[0] - pad[0],
                i1 = o1 * stride[1] + tap[1] * dilation[1] - pad[1];
        if (i0 < 0 || i0 >= in[0] || i1 < 0 || i1 >= in[1])
          continue;
        for (int64_t o2 = 0, i2 = tap[2] * dilation[2] - pad[2]; o2 < out[2];
             ++o2, i2 += stride[2])
          if (i2 >= 0 && i2 < in[2])
            fn(x + ((i0 * in[1] + i1) * in[2] + i2) * nextX, w,
               y + ((o0 * out[1] + o1) * out[2] + o2) * nextY);
      }
  };
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t m = 0; m < s.filters; ++m)
      for (int64_t c = 0; c < channelsPer; ++c) {
        int64_t x = n * s.channels * sizeX +
                    (m / filtersPer * channelsPer + c) * channelX,
                w = m * channelsPer * sizeW + c * channelW,
                y = n * s.filters * sizeY + m * channelY;
        for (int64_t k0 = 0; k0 < kernel[0]; ++k0)
          for (int64_t k1 = 0; k1 < kernel[1]; ++k1)
            for (int64_t k2 = 0; k2 < kernel[2]; ++k2, w += nextW)
              rows(x, w, y, {k0, k1, k2});
      }
}

} // namespace halftone::graph
