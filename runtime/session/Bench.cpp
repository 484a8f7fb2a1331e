// SPDX-License-Identifier: Apache-2.0
// Benchmarks over the trainer and over the executor's step observer.
#include "runtime/session/Bench.h"

#include "runtime/base/Philox.h"
#include "runtime/session/Trainer.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace halftone::runtime {

namespace {
using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// Keeps these numbers apart from those of other users of the seed.
constexpr uint64_t kBenchStream = uint64_t(0x62656e63) << 32;

/// A number that the input allows at element `i`; 0 where it allows any.
int64_t makeInteger(std::span<const Bound> bounds, uint64_t place,
                    uint64_t random) {
  auto bound = std::ranges::upper_bound(bounds, place, {}, &Bound::end);
  if (bound == bounds.end() || place < bound->first)
    return 0;
  // In unsigned arithmetic no bounds overflow; the whole range of 64 bits
  // would be 0.
  uint64_t span = std::max<uint64_t>(
      uint64_t(bound->maximum) - uint64_t(bound->minimum) + 1, 1);
  return bound->minimum + static_cast<int64_t>(random % span);
}

HostArray makeValues(const Plan &plan, const Input &input, uint64_t seed,
                     uint64_t stream) {
  const Buffer &buffer = plan.buffers[input.buffer];
  std::vector<std::byte> bytes(buffer.bytes);
  size_t size = elementSize(buffer.type);
  std::vector<Bound> bounds = plan.boundsOf(input);
  uint64_t rowElements = std::max<uint64_t>(plan.rowElements(buffer), 1);
  for (uint64_t i = 0; i < buffer.elements; ++i) {
    double value =
        isFloat(buffer.type)
            ? philoxNormal(seed, stream, i / 4)[i % 4]
            : static_cast<double>(makeInteger(bounds, i % rowElements,
                                              philoxBlock(seed, stream, i)[0]));
    if (buffer.type == ElementType::Bool)
      value = 1;
    std::vector<std::byte> element = encodeNumber(buffer.type, value);
    std::memcpy(&bytes[i * size], element.data(), size);
  }
  return makeArray(toDataType(buffer.type), buffer.shape, std::move(bytes));
}

BatchOrder inOrder(const DataSet &data) {
  return BatchOrder(data.rows(), data.batch(), 0, false);
}
} // namespace

double BenchResult::median() const {
  size_t n = milliseconds.size();
  return (milliseconds[(n - 1) / 2] + milliseconds[n / 2]) / 2;
}

double BenchResult::mean() const {
  return std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0) /
         static_cast<double>(milliseconds.size());
}

ArrayMap makeBenchData(const Plan &plan, uint64_t seed) {
  ArrayMap arrays;
  for (const Input &input : plan.inputs)
    if (input.kind != Input::Kind::RowWeight)
      arrays.insert_or_assign(
          input.name,
          makeValues(plan, input, seed, kBenchStream + arrays.size()));
  return arrays;
}

Result<BenchResult> bench(Session &session, const DataSet &data, int warmup,
                          int steps) {
  Result<std::unique_ptr<Trainer>> trainer =
      Trainer::create(session, data, inOrder(data));
  HALFTONE_RETURN_IF_ERROR(trainer);
  BenchResult result;
  ReportSink sink = [&](const StepReport &report) -> Status {
    result.skipped += report.step > warmup && !report.applied;
    return {};
  };
  for (int i = 0; i < warmup; ++i)
    HALFTONE_RETURN_IF_ERROR((*trainer)->step(sink));
  HALFTONE_RETURN_IF_ERROR((*trainer)->finish(sink));
  for (int i = 0; i < steps; ++i) {
    Clock::time_point start = Clock::now();
    HALFTONE_RETURN_IF_ERROR((*trainer)->step(sink));
    HALFTONE_RETURN_IF_ERROR((*trainer)->finish(sink));
    result.milliseconds.push_back(millisecondsSince(start));
  }
  std::ranges::sort(result.milliseconds);
  Result<MemoryInfo> memory = session.device().memory();
  HALFTONE_RETURN_IF_ERROR(memory);
  result.peakBytes = memory->peakBytes;
  return result;
}

Result<std::vector<NodeTime>> benchByNode(Session &session, const DataSet &data,
                                          int repeats) {
  Executor &executor = session.executor();
  const std::vector<Step> &steps = session.plan().train.steps;
  InputFeed feed(executor, ProgramKind::Train, data);
  std::map<std::string, NodeTime> times;
  Clock::time_point start;
  StepObserver observer;
  observer.before = [&](size_t) -> Status {
    start = Clock::now();
    return {};
  };
  observer.after = [&](size_t index) -> Status {
    double milliseconds = millisecondsSince(start) / repeats;
    NodeTime &time = times[steps[index].node];
    time.node = steps[index].node;
    time.milliseconds += milliseconds;
    ++time.steps;
    return {};
  };
  for (int i = -1; i < repeats; ++i) {
    if (i == 0)
      times.clear();
    BatchOrder order = inOrder(data);
    HALFTONE_RETURN_IF_ERROR(feed.feed(order.batchOf(0)));
    HALFTONE_RETURN_IF_ERROR(
        executor.runObserved(ProgramKind::Train, observer));
  }
  std::vector<NodeTime> sorted;
  for (auto &[name, time] : times) {
    time.steps /= repeats;
    sorted.push_back(std::move(time));
  }
  std::ranges::sort(sorted, std::greater<>(), &NodeTime::milliseconds);
  return sorted;
}

} // namespace halftone::runtime
