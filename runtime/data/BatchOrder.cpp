// SPDX-License-Identifier: Apache-2.0
// Shuffling by Fisher and Yates over Philox numbers.
#include "runtime/data/BatchOrder.h"

#include "runtime/base/Philox.h"

#include <cstddef>
#include <numeric>
#include <utility>

namespace halftone::runtime {

namespace {
/// Keeps the shuffle's numbers apart from those of other users of the seed.
constexpr uint64_t kShuffleStream = uint64_t(0x73687566) << 32;
} // namespace

std::vector<int64_t> shuffledRows(int64_t rows, uint64_t seed, uint64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  for (uint64_t i = order.size(); i > 1; --i) {
    auto words = philoxBlock(seed, kShuffleStream + epoch, i);
    uint64_t random = uint64_t(words[1]) << 32 | words[0];
    // The high half of a product is uniform up to a bias of i / 2^64.
    uint64_t pick = static_cast<uint64_t>(
        (static_cast<unsigned __int128>(random) * i) >> 64);
    std::swap(order[i - 1], order[pick]);
  }
  return order;
}

BatchOrder::BatchOrder(int64_t rows, int64_t batch, uint64_t seed, bool shuffle)
    : rows(rows), batch(batch), seed(seed), shuffle(shuffle && rows != batch) {}

std::vector<int64_t> BatchOrder::batchOf(int64_t step) {
  int64_t first = step % batchesPerEpoch() * batch;
  std::vector<int64_t> picked(static_cast<size_t>(batch));
  std::iota(picked.begin(), picked.end(), first);
  if (!shuffle)
    return picked;
  if (epoch != step / batchesPerEpoch()) {
    epoch = step / batchesPerEpoch();
    permutation = shuffledRows(rows, seed, static_cast<uint64_t>(epoch));
  }
  for (int64_t &row : picked)
    row = permutation[static_cast<size_t>(row)];
  return picked;
}

} // namespace halftone::runtime
