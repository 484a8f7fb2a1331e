// SPDX-License-Identifier: Apache-2.0
// What this machine's processor and memory are.
#pragma once

#include <cstdint>
#include <string>

namespace halftone::runtime::cpu {

/// The processor's name as the operating system gives it.
std::string processorName();

/// The feature level: "x86-64-v1" to "x86-64-v4", or the architecture's bare
/// name ("aarch64").
std::string featureLevel();

/// Whether code for level `needed` (empty: any) runs on a machine of level
/// `have`.
bool levelCovers(const std::string &have, const std::string &needed);

/// The extensions that decide how fast products and kernels are, present ones
/// only: "avx2 fma avx512f".
std::string notableFeatures();

uint64_t totalMemory();

/// Memory that can still be taken without swapping, the limit of the process's
/// control group included.
uint64_t availableMemory();

} // namespace halftone::runtime::cpu
