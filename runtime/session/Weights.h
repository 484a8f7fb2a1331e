// SPDX-License-Identifier: Apache-2.0
// Where parameters start: read from a safetensors file or drawn from the
// distributions that the plan states; and their way back into a file.
#pragma once

#include "runtime/base/Notice.h"
#include "runtime/data/HostArray.h"
#include "runtime/executor/Executor.h"

#include <filesystem>

namespace halftone::runtime {

/// A checked source: every parameter has an array or a distribution.
struct WeightSource {
  /// By index of the parameter; no bytes: drawn.
  std::vector<HostArray> arrays;
  uint64_t seed = 0;
};

/// Finds the weights of `plan`. `given` is a safetensors file or a train folder
/// and must hold every parameter; empty: the file that the plan names beside
/// itself, whose SHA-256 must be the plan's, and draws for what has a
/// distribution. A message names the file, and each tensor that is missing or
/// does not fit.
Result<WeightSource> openWeights(const Plan &plan,
                                 const std::filesystem::path &given,
                                 uint64_t seed, const NoticeSink &notice);

/// Fills the parameters on the device; waits.
Status uploadWeights(Executor &executor, const WeightSource &source);

/// Writes all parameters under their names (large constants too), as a file
/// that openWeights accepts.
Status saveWeights(Executor &executor, const std::filesystem::path &path);

/// The elements of parameter `index` of a plan: Philox keyed by seed and index,
/// so that each parameter is independent of all others.
std::vector<float> drawParameter(const Distribution &init, uint64_t seed,
                                 uint64_t index, uint64_t elements);

} // namespace halftone::runtime
