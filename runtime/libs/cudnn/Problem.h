// SPDX-License-Identifier: Apache-2.0
// One convolution as it is put to cuDNN.
#pragma once

#include "runtime/libs/StepGeometry.h"

#include <array>

namespace halftone::runtime::cudnn {

/// A tensor as cuDNN takes it: sizes in the order N, C, spatial (filters: M,
/// C / group, kernel), whatever lies where in memory.
struct Tensor {
  ElementType type;
  std::vector<int64_t> sizes, strides; ///< In elements.
  int64_t alignment;                   ///< Of its address, in bytes.

  auto operator<=>(const Tensor &) const = default;
};

enum Role : size_t { X, W, Y };

inline Role resultOf(Convolution::Direction direction) {
  return direction == Convolution::Direction::Forward        ? Y
         : direction == Convolution::Direction::DataGradient ? X
                                                             : W;
}

/// Everything a plan depends on but the library and the GPU.
struct Problem {
  Convolution::Direction direction;
  std::array<Tensor, 3> tensors; ///< By Role.
  std::vector<int64_t> strides, padsBegin, padsEnd, dilations;
  bool tf32;
  /// Float32 operands hold numbers of a low type, which TF32 holds as well:
  /// tensor cores form exact products of them.
  bool fitsTf32;

  auto operator<=>(const Problem &) const = default;

  Role result() const { return resultOf(direction); }
};

} // namespace halftone::runtime::cudnn
