// SPDX-License-Identifier: Apache-2.0
// Ranges of steps as CUDA graphs: one launch instead of hundreds.
#pragma once

#include "runtime/device/cuda/CudaContext.h"

#include <functional>
#include <map>

namespace halftone::runtime::cuda {

class RecordedRanges {
public:
  struct Range {
    ProgramKind program;
    size_t begin, end;
    auto operator<=>(const Range &) const = default;
  };

  RecordedRanges() = default;
  RecordedRanges(const RecordedRanges &) = delete;
  RecordedRanges &operator=(const RecordedRanges &) = delete;
  ~RecordedRanges();

  /// Queues the range on the compute stream: by `queue` the first time (which
  /// lets the libraries load what they need, and leaves a program that runs
  /// once without the cost of a graph), recording `queue` into a graph the
  /// second time, and by that graph. `queue` must only queue work, and always
  /// the same.
  Status run(CudaContext &context, const Range &range,
             const std::function<Status()> &queue);

private:
  struct Entry {
    int runs = 0;
    CUgraphExec graph = nullptr;
  };
  Status record(CudaContext &context, Entry &entry,
                const std::function<Status()> &queue);

  const Driver *driver = nullptr;
  std::map<Range, Entry> entries;
};

} // namespace halftone::runtime::cuda
