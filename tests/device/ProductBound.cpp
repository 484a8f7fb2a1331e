// SPDX-License-Identifier: Apache-2.0
#include "tests/device/ProductBound.h"

#include <cmath>

namespace halftone::runtime::test {

double unitRoundoff(ElementType type) {
  return type == ElementType::F16    ? 0x1p-11
         : type == ElementType::BF16 ? 0x1p-8
                                     : 0x1p-24;
}

testing::AssertionResult withinOneRounding(const TestTensor &actual,
                                           const ExactSums &exact) {
  // Half of the smallest subnormal.
  double tiny = actual.type == ElementType::F16 ? 0x1p-25 : 0x1p-134;
  for (size_t i = 0; i < actual.values.size(); ++i) {
    double terms = static_cast<double>(exact.terms[i]);
    double accumulation = terms * 0x1p-24 * exact.magnitude[i];
    double rounding =
        (std::abs(exact.sum[i]) + accumulation) * unitRoundoff(actual.type) +
        tiny;
    double error = std::abs(actual.values[i] - exact.sum[i]);
    if (!(error <= accumulation + rounding))
      return testing::AssertionFailure()
             << "element " << i << " is " << actual.values[i] << ", exact "
             << exact.sum[i] << ", error " << error << ", allowed "
             << accumulation + rounding;
  }
  return testing::AssertionSuccess();
}

} // namespace halftone::runtime::test
