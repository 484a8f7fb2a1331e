// SPDX-License-Identifier: Apache-2.0
// Recording by stream capture, limited to this thread's calls.
#include "runtime/device/cuda/RecordedRanges.h"

namespace halftone::runtime::cuda {
namespace {

/// Programs run whole or up to the optimizer; a search that runs ever other
/// ranges must not pile up graphs.
constexpr size_t kMaxRanges = 8;

} // namespace

RecordedRanges::~RecordedRanges() {
  for (auto &[range, entry] : entries)
    if (entry.graph)
      driver->graphExecDestroy(entry.graph);
}

Status RecordedRanges::record(CudaContext &context, Entry &entry,
                              const std::function<Status()> &queue) {
  constexpr std::string_view kWhat =
      "recording a graph (HALFTONE_CUDA_GRAPHS=0 runs without)";
  CUstream stream = context.stream(Queue::Compute);
  driver = &context.driver;
  HALFTONE_RETURN_IF_ERROR(context.checkSteps(
      driver->streamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      kWhat));
  Status queued = queue();
  CUgraph graph = nullptr;
  CUresult result = driver->streamEndCapture(stream, &graph);
  if (queued.ok() && result == CUDA_SUCCESS)
    result = driver->graphInstantiate(&entry.graph, graph, 0);
  if (graph)
    driver->graphDestroy(graph);
  HALFTONE_RETURN_IF_ERROR(withContext("recording a graph", queued));
  return context.checkSteps(result, kWhat);
}

Status RecordedRanges::run(CudaContext &context, const Range &range,
                           const std::function<Status()> &queue) {
  auto found = entries.find(range);
  if (found == entries.end()) {
    if (entries.size() == kMaxRanges)
      return queue();
    found = entries.emplace(range, Entry{}).first;
  }
  Entry &entry = found->second;
  if (entry.runs++ == 0)
    return queue();
  if (!entry.graph)
    HALFTONE_RETURN_IF_ERROR(record(context, entry, queue));
  return context.checkSteps(
      context.driver.graphLaunch(entry.graph, context.stream(Queue::Compute)),
      "launching a graph");
}

} // namespace halftone::runtime::cuda
