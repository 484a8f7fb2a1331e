// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on disk, so that a plan's second start compiles nothing.
#pragma once

#include "runtime/base/Sha256.h"

#include <filesystem>
#include <optional>

namespace halftone::runtime::cuda {

/// What machine code depends on besides its PTX.
struct CubinTarget {
  std::string driver; ///< The driver's release and version of CUDA.
  int sm;
};

class CubinCache {
public:
  /// In $XDG_CACHE_HOME/halftone/cubins, else ~/.cache/halftone/cubins; without
  /// either, or with HALFTONE_CUDA_CACHE=0, nothing is kept.
  static CubinCache ofUser();
  explicit CubinCache(std::filesystem::path folder)
      : folder(std::move(folder)) {}

  /// The cubin stored for this text and target, if it is there and whole.
  std::optional<std::string> find(const std::string &ptx,
                                  const CubinTarget &target) const;
  /// Stores one; a failure to do so is no failure.
  void store(const std::string &ptx, const CubinTarget &target,
             const std::string &cubin) const;

  /// Where an entry lies; empty where nothing is kept.
  std::filesystem::path pathOf(const std::string &ptx,
                               const CubinTarget &target) const;

private:
  std::filesystem::path folder; ///< Empty: nothing is kept.
};

} // namespace halftone::runtime::cuda
