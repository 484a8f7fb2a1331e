// SPDX-License-Identifier: Apache-2.0
// Brings batches to the device ahead of their use: gathered into staging
// memory, copied beside the running step, put in place right before the step
// that reads them. The host waits for nothing but a free slot.
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/executor/Executor.h"

#include <array>

namespace halftone::runtime {

class InputFeed {
public:
  /// `data` must be bound to the same program and outlive the feed.
  static Result<InputFeed> create(Executor &executor, ProgramKind program,
                                  const DataSet &data);

  /// Queues the transfer of a batch; what runs next on Queue::Compute reads it.
  Status feed(std::span<const int64_t> rows);

private:
  struct Slot {
    Memory staging, device;
    std::shared_ptr<Event> uploaded, consumed;
  };

  InputFeed(Executor &executor, ProgramKind program, const DataSet &data)
      : executor(&executor), program(program), data(&data) {}

  /// Whether the buffer still holds the batch of the last feed.
  bool isInPlace(size_t input) const;

  Executor *executor;
  ProgramKind program;
  const DataSet *data;
  std::vector<uint64_t> offsets; ///< Of each input in a slot.
  std::array<Slot, InputLanding::kSlots> slots;
  size_t next = 0;
  uint64_t writer = 0;
};

} // namespace halftone::runtime
