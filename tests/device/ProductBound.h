// SPDX-License-Identifier: Apache-2.0
// How far a product or convolution may be from its exact value: the one place
// where that is said.
#pragma once

#include "tests/device/TestTensor.h"

#include <gtest/gtest.h>

namespace halftone::runtime::test {

/// A sum of products in exact arithmetic (double), element by element.
struct ExactSums {
  std::vector<double> sum;       ///< Of the terms.
  std::vector<double> magnitude; ///< Of the terms' absolute values.
  std::vector<int64_t> terms;

  explicit ExactSums(size_t count)
      : sum(count), magnitude(count), terms(count) {}
  void add(size_t i, double term) {
    sum[i] += term;
    magnitude[i] += term < 0 ? -term : term;
    ++terms[i];
  }
};

/// Half a unit in the last place, relative to the value.
double unitRoundoff(ElementType type);

/// Whether every element of `actual` is within one rounding to its type of a
/// float32 sum in any order: for n terms, n * 2^-24 of their magnitude (the
/// classical bound; inputs in TF32 would exceed it), then one rounding.
testing::AssertionResult withinOneRounding(const TestTensor &actual,
                                           const ExactSums &exact);

} // namespace halftone::runtime::test
