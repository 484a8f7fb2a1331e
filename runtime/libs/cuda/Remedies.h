// SPDX-License-Identifier: Apache-2.0
// What a user can do about the errors of the driver and of NVIDIA's libraries.
// Every remedy is a request that follows "; " at the end of a message.
#pragma once

#include <span>
#include <string_view>

namespace halftone::runtime::cuda {

/// Of the errors numbered `first` to `last`.
struct Remedy {
  int first, last;
  std::string_view text;
};

/// Of all errors of a library: the first of `known` that fits, else
/// `otherwise`, which says how to learn more.
struct Remedies {
  std::span<const Remedy> known;
  std::string_view otherwise;

  std::string_view of(int error) const {
    for (const Remedy &remedy : known)
      if (remedy.first <= error && error <= remedy.last)
        return remedy.text;
    return otherwise;
  }
};

inline constexpr std::string_view kInstallDriver =
    "install NVIDIA's driver 580 or newer for this GPU";
inline constexpr std::string_view kFreeMemory =
    "use a smaller batch, or free the GPU's memory";
inline constexpr std::string_view kFreeHostMemory =
    "free memory of the host, or raise the limit of its container";
inline constexpr std::string_view kAskStepwise =
    "set HALFTONE_CUDA_DEBUG=1, which runs step by step and names the node";

} // namespace halftone::runtime::cuda
