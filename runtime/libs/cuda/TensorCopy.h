// SPDX-License-Identifier: Apache-2.0
// Copies between tensors of other layout, type or border: what lies around a
// library call whose operands the library does not take as they are.
#pragma once

#include "runtime/base/ElementType.h"
#include "runtime/libs/cuda/PtxModule.h"

#include <array>
#include <map>

namespace halftone::runtime::cuda {

/// Five dimensions a side; element i of `destination` becomes element i +
/// offset of `source`, or zero where there is none. Float types only; a
/// narrower one is rounded to nearest even.
struct TensorCopy {
  struct Side {
    ElementType type;
    std::array<int32_t, 5> sizes{1, 1, 1, 1, 1};
    std::array<int32_t, 5> strides{}; ///< In elements.
  };
  Side source, destination;
  std::array<int32_t, 5> offset{};

  /// Elements written; none where they do not fit the kernel's 31 bits.
  Result<uint32_t> count() const;
};

/// The copy kernels of one context, compiled at first use.
class TensorCopier {
public:
  explicit TensorCopier(const Driver &driver) : driver(driver) {}

  /// Compiles what `copy` needs, so that run() only launches.
  Status prepare(const TensorCopy &copy);
  Status run(const TensorCopy &copy, const void *source, void *destination,
             CUstream stream);

private:
  struct Kernel {
    LoadedModule module;
    CUfunction function;
  };

  const Driver &driver;
  std::map<std::pair<ElementType, ElementType>, Kernel> kernels;
};

/// The kernel's text, for the tests.
std::string tensorCopyPtx(ElementType source, ElementType destination);

} // namespace halftone::runtime::cuda
