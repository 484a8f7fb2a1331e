// SPDX-License-Identifier: Apache-2.0
// Brings batches to the device ahead of their use: gathered into staging
// memory, copied beside the running step, put in place right before the step
// that reads them. The host waits for nothing but a free slot.
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/executor/Executor.h"

namespace halftone::runtime {

class InputFeed {
public:
  /// `data` must be bound to the same program, which the executor must run, and
  /// outlive the feed.
  InputFeed(Executor &executor, ProgramKind program, const DataSet &data);

  /// Queues the transfer of a batch; what runs next on Queue::Compute reads it.
  Status feed(std::span<const int64_t> rows);

private:
  /// Whether the buffer still holds the batch of the last feed.
  bool isInPlace(size_t input) const;

  Executor *executor;
  ProgramKind program;
  const DataSet *data;
  std::vector<uint64_t> offsets; ///< Of each input in a slot.
  uint64_t writer;
};

} // namespace halftone::runtime
