// SPDX-License-Identifier: Apache-2.0
// The kernels of a plan as functions of the GPU.
#pragma once

#include "runtime/device/cuda/CubinCache.h"
#include "runtime/device/cuda/CudaContext.h"
#include "runtime/libs/cuda/PtxModule.h"

namespace halftone::runtime::cuda {

/// Owns the loaded code; the functions live as long as it does.
class KernelModules {
public:
  /// Compiles (on several threads) or finds in the cache, and loads, all
  /// modules. What fails is told when a kernel of it is asked for.
  static KernelModules load(CudaContext &context, const CubinCache &cache,
                            const std::vector<Module> &modules);

  /// Ready to be launched as `kernel` says with `arguments` addresses. Fails
  /// where the code does not compile, has no such kernel, takes other
  /// arguments, or asks for more than the GPU has.
  Result<CUfunction> function(CudaContext &context, const Kernel &kernel,
                              size_t arguments) const;

private:
  std::vector<Result<LoadedModule>> modules;
};

/// The release of the installed driver ("580.159.04"), else the CUDA version.
std::string driverRelease(const Driver &driver);

} // namespace halftone::runtime::cuda
