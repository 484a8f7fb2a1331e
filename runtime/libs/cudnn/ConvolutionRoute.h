// SPDX-License-Identifier: Apache-2.0
// How the operands of a convolution come to cuDNN: as they are, or rearranged.
#pragma once

#include "runtime/libs/cuda/TensorCopy.h"
#include "runtime/libs/cudnn/ConvolutionPlan.h"

namespace halftone::runtime::cudnn {

/// What is done to the operands before (and undone after) the convolution.
struct Route {
  bool padded;        ///< Zeros are put around x, so that no pads are left.
  bool wide;          ///< Low types become float32.
  bool channelsFirst; ///< NHWC and OHWI become NCHW and OIHW.
  bool moved = false; ///< All operands lie in the workspace, well aligned.
};

/// The routes worth trying, cheapest first.
std::vector<Route> routesFor(const ConvolutionGeometry &geometry);

/// The convolution as cuDNN sees it on a route. `alignment` by Role, for the
/// tensors that stay where they are.
Problem problemOf(const ConvolutionGeometry &geometry, const Route &route,
                  const std::array<int64_t, 3> &alignment);

/// The way of one tensor between the plan's memory and a route's, and whether
/// there is anything to do.
struct Detour {
  bool needed;
  cuda::TensorCopy in, out;
  uint64_t bytes; ///< Of the route's tensor.
};
Detour detourOf(const ConvolutionGeometry &geometry, const Route &route,
                Role role);

} // namespace halftone::runtime::cudnn
