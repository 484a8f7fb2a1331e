// SPDX-License-Identifier: Apache-2.0
// Convolutions written out: which elements of x and w make which of y.
#pragma once

#include "runtime/base/ElementType.h"

#include <functional>
#include <ostream>

namespace halftone::runtime::test {

/// One convolution; spatial lists have 1 to 3 entries.
struct ConvolutionCase {
  int64_t batch, channels, filters, group;
  std::vector<int64_t> input, kernel, strides, padsBegin, padsEnd, dilations;

  /// Spatial sizes of y.
  std::vector<int64_t> output() const;
  /// Of x, w and y, in memory order.
  std::vector<Shape> shapes(bool channelsLast) const;
};

std::ostream &operator<<(std::ostream &stream, const ConvolutionCase &c);

/// Which terms to visit: those of these pictures, filters and channels (of a
/// filter). Empty lists stand for all.
struct TermFilter {
  std::vector<int64_t> pictures, filters, channels;
};

/// Calls visit(x, w, y) with the offsets of the three factors of every term.
void forEachTerm(const ConvolutionCase &c, bool channelsLast,
                 const TermFilter &filter,
                 const std::function<void(size_t, size_t, size_t)> &visit);

} // namespace halftone::runtime::test
