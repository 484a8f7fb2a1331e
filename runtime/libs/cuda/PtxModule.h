// SPDX-License-Identifier: Apache-2.0
// PTX text to machine code and machine code into the current context, with the
// driver's own log in the message when it refuses.
#pragma once

#include "runtime/libs/cuda/CudaDriver.h"

namespace halftone::runtime::cuda {

/// A loaded module; unloaded with this object, in whose context it was loaded.
class LoadedModule {
public:
  LoadedModule() = default;
  LoadedModule(const Driver &driver, CUmodule module)
      : driver(&driver), module(module) {}
  LoadedModule(LoadedModule &&other) noexcept { *this = std::move(other); }
  LoadedModule &operator=(LoadedModule &&other) noexcept {
    std::swap(driver, other.driver);
    std::swap(module, other.module);
    return *this;
  }
  ~LoadedModule() {
    if (module)
      driver->moduleUnload(module);
  }

  /// The function of this name; fails naming it where there is none.
  Result<CUfunction> function(const std::string &name) const;

private:
  const Driver *driver = nullptr;
  CUmodule module = nullptr;
};

/// A cubin for the GPU of the current context. Needs one; may be called from
/// several threads at once.
Result<std::string> compilePtx(const Driver &driver, const std::string &ptx);

/// Loads a cubin, or PTX text, into the current context.
Result<LoadedModule> loadModule(const Driver &driver, const std::string &code);

} // namespace halftone::runtime::cuda
