// SPDX-License-Identifier: Apache-2.0
// What an engine that cuDNN offers does to numbers, and whether a plan may use
// it.
#pragma once

#include "runtime/libs/cudnn/Descriptor.h"
#include "runtime/libs/cudnn/Problem.h"

#include <map>
#include <string>

namespace halftone::runtime::cudnn {

/// An engine with its settings, in cuDNN's terms.
struct EngineConfig {
  /// The engine's global index; each direction counts on its own.
  int64_t engine = -1;
  std::vector<cudnnBackendNumericalNote_t> notes;
  std::map<cudnnBackendKnobType_t, int64_t> knobs;

  /// As cuDNN's log has it: "eng73_k2=3_k13=1".
  std::string name() const;
};

/// Reads what a heuristic offers.
Result<EngineConfig> readEngineConfig(Descriptor &offer);

/// Whether it computes in float32 or by exact products of numbers of low types
/// (no TF32 unless allowed, no Winograd, no FFT, no down-conversion), adds in
/// float32, and repeats bit for bit.
bool isExact(const EngineConfig &config, const Problem &problem);

/// Whether its kernels are known to race.
bool races(const EngineConfig &config, const Problem &problem);

} // namespace halftone::runtime::cudnn
