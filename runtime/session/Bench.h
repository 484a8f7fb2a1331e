// SPDX-License-Identifier: Apache-2.0
// Timing of train steps on made-up data.
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/session/Session.h"

namespace halftone::runtime {

struct BenchResult {
  std::vector<double> milliseconds; ///< One a step, sorted.
  int64_t skipped = 0;              ///< Among the timed steps.
  uint64_t peakBytes = 0;
  double median() const;
  double mean() const;
};

/// Time of one plan step's node, summed over the steps that carry its name.
struct NodeTime {
  std::string node;
  double milliseconds;
  int64_t steps;
};

/// One batch of legal values, drawn by the seed: normal floats, integers within
/// the inputs' bounds.
ArrayMap makeBenchData(const Plan &plan, uint64_t seed);

/// Runs `warmup` steps, then times `steps` of them (at least 1).
Result<BenchResult> bench(Session &session, const DataSet &data, int warmup,
                          int steps);

/// Times the steps of the plan one by one, after a warm run, averaged over
/// `repeats`; the slowest first.
Result<std::vector<NodeTime>> benchByNode(Session &session, const DataSet &data,
                                          int repeats);

} // namespace halftone::runtime
