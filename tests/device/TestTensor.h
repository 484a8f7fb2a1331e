// SPDX-License-Identifier: Apache-2.0
// Tensors on the host for device tests: values in double that the element type
// holds exactly.
#pragma once

#include "runtime/base/ElementType.h"

#include <cstddef>
#include <vector>

namespace halftone::runtime::test {

struct TestTensor {
  ElementType type;
  Shape shape;
  std::vector<double> values;
};

/// The value of a float type nearest to `value`, as double.
double rounded(ElementType type, double value);

/// Uniform in [-1, 1], rounded to `type`; equal seeds give equal tensors.
TestTensor randomTensor(ElementType type, Shape shape, uint64_t seed);

std::vector<std::byte> encode(const TestTensor &tensor);
TestTensor decode(ElementType type, Shape shape,
                  const std::vector<std::byte> &bytes);

} // namespace halftone::runtime::test
