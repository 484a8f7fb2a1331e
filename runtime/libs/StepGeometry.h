// SPDX-License-Identifier: Apache-2.0
// Matrix products, convolutions and copies of a plan in the terms of their
// buffers: what every device and math library starts from. Plans were checked
// (PlanCheck); what remains is refused here, in messages that do not name the
// step.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <optional>
#include <vector>

namespace halftone::runtime {

/// A product. All sizes are positive, or it is empty() and there is nothing to
/// do.
struct MatMulGeometry {
  MatMul shape; ///< With batches folded into the rows where that is the same.
  uint32_t a, b, c; ///< Indices into Plan::buffers.
  std::optional<uint32_t> bias;
  ElementType typeA, typeB, typeC;
  ElementType typeBias; ///< Float32 where there is no bias.

  bool empty() const { return shape.batch * shape.m * shape.n == 0; }
  /// Floating-point operations of the sums of products.
  double operations() const;
};

/// Where the tensors of a product lie, on the device that computes it.
struct MatMulAddresses {
  const void *a, *b;
  const void *bias; ///< Null where there is none.
  void *c;
};

/// Fails for a product over no elements (k = 0).
Result<MatMulGeometry> matmulGeometry(const Plan &plan, const Step &step);

/// A convolution in roles: x [batch, channels, input...], w [filters,
/// channels / group, kernel...], y [batch, filters, output...], whichever of
/// them the direction computes.
struct ConvolutionGeometry {
  Convolution::Direction direction;
  int64_t batch, channels, filters, group;
  std::vector<int64_t> input, kernel, output; ///< Spatial sizes.
  std::vector<int64_t> strides, padsBegin, padsEnd, dilations;
  bool channelsLast;
  bool tf32;
  uint32_t x, w, y; ///< Indices into Plan::buffers.
  ElementType typeX, typeW, typeY;

  size_t spatialRank() const { return input.size(); }
  /// Floating-point operations of the sums of products, padding included.
  double operations() const;
};

/// Where the tensors of a convolution lie; the one that the direction computes
/// is written, the others are only read.
struct ConvolutionAddresses {
  void *x, *w, *y;
};

/// Fails where a tensor has no elements.
Result<ConvolutionGeometry> convolutionGeometry(const Plan &plan,
                                                const Step &step);

/// Bytes that a copy step moves. Fails where the two buffers overlap without
/// being the same.
Result<uint64_t> copyBytes(const Plan &plan, const Step &step);

} // namespace halftone::runtime
