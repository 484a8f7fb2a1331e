// SPDX-License-Identifier: Apache-2.0
// The kernels of a plan as functions of this process.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <memory>
#include <span>

namespace halftone::runtime::cpu {

/// Computes work items [begin, end) on the buffers in the step's order.
using KernelFunction = void (*)(void *const *buffers, int64_t begin,
                                int64_t end);

/// Owns the machine code; the functions live as long as it does.
class KernelLibrary {
public:
  /// Compiles all modules, on all threads, and finds every kernel in its
  /// module. Symbols that kernels call resolve from this process (memcpy,
  /// expf).
  static Result<std::unique_ptr<KernelLibrary>>
  load(std::span<const Module> modules, std::span<const Kernel> kernels);
  ~KernelLibrary();

  /// By index into the kernels given to load.
  KernelFunction function(size_t kernel) const { return functions[kernel]; }

private:
  struct Jit;
  KernelLibrary();

  std::unique_ptr<Jit> jit;
  std::vector<KernelFunction> functions;
};

} // namespace halftone::runtime::cpu
