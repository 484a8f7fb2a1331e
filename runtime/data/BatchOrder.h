// SPDX-License-Identifier: Apache-2.0
// Which rows of a data set make up which step's batch.
#pragma once

#include <cstdint>
#include <vector>

namespace halftone::runtime {

/// A permutation of 0..rows-1 that depends on seed and epoch alone.
std::vector<int64_t> shuffledRows(int64_t rows, uint64_t seed, uint64_t epoch);

/// The order of training: each epoch visits rows / batch whole batches,
/// shuffled anew. Position is nothing but the step, so that a resumed run goes
/// on where it stopped.
class BatchOrder {
public:
  /// Needs 1 <= batch <= rows. Without `shuffle`, and where rows equal batch,
  /// rows come as they are.
  BatchOrder(int64_t rows, int64_t batch, uint64_t seed, bool shuffle);

  int64_t batchesPerEpoch() const { return rows / batch; }
  /// The rows of the step, counted from 0.
  std::vector<int64_t> batchOf(int64_t step);

private:
  int64_t rows, batch;
  uint64_t seed;
  bool shuffle;
  int64_t epoch = -1;
  std::vector<int64_t> permutation;
};

} // namespace halftone::runtime
