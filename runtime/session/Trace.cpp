// SPDX-License-Identifier: Apache-2.0
// Tracing over the executor's step observer.
#include "runtime/session/Trace.h"

#include "runtime/data/Safetensors.h"
#include "runtime/session/InputFeed.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace halftone::runtime {

namespace {
Result<std::vector<HostArray>> capture(Executor &executor,
                                       const std::vector<uint32_t> &buffers) {
  std::vector<HostArray> arrays;
  for (uint32_t index : buffers) {
    Result<std::vector<std::byte>> bytes = executor.read(index);
    HALFTONE_RETURN_IF_ERROR(bytes);
    const Buffer &buffer = executor.plan().buffers[index];
    arrays.push_back(
        makeArray(toDataType(buffer.type), buffer.shape, std::move(*bytes)));
  }
  return arrays;
}

std::string kindName(const Step &step) {
  constexpr std::array<std::string_view, 4> kNames{"launch", "matmul",
                                                   "convolution", "copy"};
  return std::string(kNames[step.kind.index()]);
}

std::string joinNames(const Plan &plan, const std::vector<uint32_t> &buffers) {
  std::string text;
  for (uint32_t index : buffers)
    text += (text.empty() ? "" : "\n") + plan.buffers[index].name;
  return text;
}

std::map<std::string, std::string> describeStep(const Plan &plan,
                                                const TracedStep &traced) {
  std::map<std::string, std::string> metadata{
      {"step", std::to_string(traced.index)},
      {"node", traced.step.node},
      {"phase", std::string(phaseName(traced.step.phase))},
      {"kind", kindName(traced.step)},
      {"inputs", joinNames(plan, traced.step.inputs)},
      {"outputs", joinNames(plan, traced.step.outputs)}};
  if (auto *launch = std::get_if<Launch>(&traced.step.kind))
    metadata["kernel"] = plan.kernels[launch->kernel].name;
  return metadata;
}
} // namespace

std::string_view phaseName(Phase phase) {
  constexpr std::array<std::string_view, 5> kNames{"unknown", "forward", "loss",
                                                   "backward", "optimizer"};
  return kNames[static_cast<size_t>(phase)];
}

Status traceProgram(Session &session, const DataSet &data, ProgramKind program,
                    const TraceSink &sink) {
  Executor &executor = session.executor();
  const std::vector<Step> &steps = session.plan().program(program).steps;
  if (data.rows() < data.batch() && !data.canMask())
    return invalidInput("the data have fewer rows than one batch");
  InputFeed feed(executor, program, data);
  std::vector<int64_t> rows(static_cast<size_t>(data.batch()), kNoRow);
  std::iota(rows.begin(), rows.begin() + std::min(data.rows(), data.batch()),
            int64_t(0));
  HALFTONE_RETURN_IF_ERROR(feed.feed(rows));

  std::vector<HostArray> before;
  StepObserver observer;
  observer.before = [&](size_t index) -> Status {
    Result<std::vector<HostArray>> inputs =
        capture(executor, steps[index].inputs);
    HALFTONE_RETURN_IF_ERROR(inputs);
    before = std::move(*inputs);
    return {};
  };
  observer.after = [&](size_t index) -> Status {
    Result<std::vector<HostArray>> outputs =
        capture(executor, steps[index].outputs);
    HALFTONE_RETURN_IF_ERROR(outputs);
    return sink({index, steps[index], std::move(before), std::move(*outputs)});
  };
  return executor.runObserved(program, observer);
}

Status writeTrace(Session &session, const DataSet &data, ProgramKind program,
                  const std::filesystem::path &folder) {
  const Plan &plan = session.plan();
  return traceProgram(
      session, data, program, [&](const TracedStep &traced) -> Status {
        std::vector<SafetensorsEntry> entries;
        auto add = [&](const char *prefix,
                       const std::vector<HostArray> &arrays) {
          for (size_t i = 0; i < arrays.size(); ++i)
            entries.push_back(makeEntry(fmt::format("{}.{}", prefix, i),
                                        arrays[i].type, arrays[i].shape,
                                        arrays[i].bytes));
        };
        add("in", traced.inputs);
        add("out", traced.outputs);
        return writeSafetensors(
            folder / fmt::format("{:05}.safetensors", traced.index), entries,
            describeStep(plan, traced));
      });
}

} // namespace halftone::runtime
