// SPDX-License-Identifier: Apache-2.0
// A plan of one convolution, its random operands, and what it must give.
#pragma once

#include "tests/device/ConvolutionReference.h"
#include "tests/device/ProductBound.h"
#include "tests/device/TestPlan.h"

namespace halftone::runtime::test {

struct OneConvolution {
  /// How it is put to the device, besides its sizes.
  struct Form {
    Convolution::Direction direction;
    bool channelsLast;
    ElementType in, out;
    /// Elements between an aligned address and the operands.
    int64_t shift = 0;
  };

  OneConvolution(const DeviceInfo &device, const ConvolutionCase &sizes,
                 const Form &form);

  /// The sums of the terms, of all results or some.
  ExactSums exact(const TermFilter &filter = {}) const;

  const Step &step() const { return plan.plan.train.steps.front(); }

  ConvolutionCase sizes;
  Form form;
  TestPlan plan;
  TestTensor left{}, right{};   ///< In the step's order: x w, dy w, x dy.
  size_t first, second, result; ///< Which of x, w and y they are.
  uint32_t output;
};

std::ostream &operator<<(std::ostream &stream,
                         const OneConvolution::Form &form);

} // namespace halftone::runtime::test
