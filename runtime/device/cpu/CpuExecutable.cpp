// SPDX-License-Identifier: Apache-2.0
// Steps run in order; the work of one step is spread over OpenMP's threads,
// the same that oneDNN uses.
#include "runtime/device/cpu/CpuExecutable.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <omp.h>

namespace halftone::runtime::cpu {
namespace {

/// Copies below this size stay on one thread.
constexpr int64_t kCopyGrain = 1 << 20;

/// Splits [0, count) into at most one piece a thread, each of at least `grain`
/// items (a shorter one only where there is just one).
template <typename Body>
void onAllThreads(int64_t count, int64_t grain, Body body) {
  int64_t pieces = std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1,
                                       omp_get_max_threads());
  if (pieces == 1)
    return body(int64_t{0}, count);
#pragma omp parallel for schedule(static, 1)                                   \
    num_threads(static_cast<int>(pieces))
  for (int64_t i = 0; i < pieces; ++i)
    // Written so that the product cannot overflow.
    body(count / pieces * i + std::min(i, count % pieces),
         count / pieces * (i + 1) + std::min(i + 1, count % pieces));
}

} // namespace

Result<std::unique_ptr<Executable>>
CpuExecutable::prepare(Device &device, std::shared_ptr<const Plan> plan,
                       std::vector<void *> arenas) {
  std::unique_ptr<CpuExecutable> executable(
      new CpuExecutable(std::move(plan), std::move(arenas)));
  const Plan &p = *executable->plan;
  if (!p.kernels.empty()) {
    auto library = KernelLibrary::load(p.modules, p.kernels);
    HALFTONE_RETURN_IF_ERROR(library);
    executable->kernels = std::move(*library);
  }
  HALFTONE_RETURN_IF_ERROR(executable->prepareProgram(ProgramKind::Train));
  HALFTONE_RETURN_IF_ERROR(executable->prepareProgram(ProgramKind::Eval));
  HALFTONE_RETURN_IF_ERROR(executable->bindScratch(device));
  return std::unique_ptr<Executable>(std::move(executable));
}

void *CpuExecutable::address(uint32_t buffer) const {
  const Buffer &b = plan->buffers[buffer];
  auto *base = static_cast<std::byte *>(arenas[b.arena]);
  return base ? base + b.offset : nullptr;
}

Status CpuExecutable::prepareProgram(ProgramKind kind) {
  auto &calls = programs[static_cast<size_t>(kind)];
  for (const Step &step : plan->program(kind).steps) {
    auto call = prepareStep(step);
    HALFTONE_RETURN_IF_ERROR(withContext(step.node, call.status()));
    calls.push_back(std::move(*call));
  }
  return {};
}

Result<CpuExecutable::Call> CpuExecutable::prepareStep(const Step &step) const {
  if (std::holds_alternative<MatMul>(step.kind))
    return prepareMatMul(step);
  if (std::holds_alternative<Convolution>(step.kind))
    return prepareConvolution(step);
  if (std::holds_alternative<Copy>(step.kind))
    return prepareCopy(step);
  uint32_t index = std::get<Launch>(step.kind).kernel;
  const Kernel &kernel = plan->kernels[index];
  KernelCall call{kernels->function(index), {}, kernel.workItems, kernel.grain};
  for (const auto *list : {&step.inputs, &step.outputs})
    for (uint32_t buffer : *list)
      call.buffers.push_back(address(buffer));
  return Call(std::move(call));
}

Result<CpuExecutable::Call>
CpuExecutable::prepareMatMul(const Step &step) const {
  auto geometry = matmulGeometry(*plan, step);
  HALFTONE_RETURN_IF_ERROR(geometry);
  auto call = onednn::prepareMatMul(
      *geometry, {address(geometry->a), address(geometry->b),
                  geometry->bias ? address(*geometry->bias) : nullptr,
                  address(geometry->c)});
  HALFTONE_RETURN_IF_ERROR(call);
  return Call(std::move(*call));
}

Result<CpuExecutable::Call>
CpuExecutable::prepareConvolution(const Step &step) const {
  auto geometry = convolutionGeometry(*plan, step);
  HALFTONE_RETURN_IF_ERROR(geometry);
  auto call = onednn::prepareConvolution(
      *geometry,
      {address(geometry->x), address(geometry->w), address(geometry->y)});
  HALFTONE_RETURN_IF_ERROR(call);
  return Call(std::move(*call));
}

Result<CpuExecutable::Call> CpuExecutable::prepareCopy(const Step &step) const {
  auto bytes = copyBytes(*plan, step);
  HALFTONE_RETURN_IF_ERROR(bytes);
  return Call(
      CopyCall{address(step.outputs[0]), address(step.inputs[0]), *bytes});
}

Status CpuExecutable::bindScratch(Device &device) {
  uint64_t bytes = 0;
  for (const auto &calls : programs)
    for (const Call &call : calls)
      if (auto *library =
              std::get_if<std::unique_ptr<onednn::LibraryCall>>(&call))
        bytes = std::max(bytes, (*library)->scratchBytes());
  auto memory = device.allocate(bytes, "library workspace");
  HALFTONE_RETURN_IF_ERROR(memory);
  scratch = std::move(*memory);
  for (auto &calls : programs)
    for (Call &call : calls)
      if (auto *library =
              std::get_if<std::unique_ptr<onednn::LibraryCall>>(&call))
        HALFTONE_RETURN_IF_ERROR((*library)->bind(scratch.data()));
  return {};
}

Status CpuExecutable::runCall(Call &call) {
  if (auto *library = std::get_if<std::unique_ptr<onednn::LibraryCall>>(&call))
    return (*library)->run();
  if (auto *kernel = std::get_if<KernelCall>(&call)) {
    onAllThreads(kernel->workItems, kernel->grain,
                 [&](int64_t begin, int64_t end) {
                   kernel->function(kernel->buffers.data(), begin, end);
                 });
    return {};
  }
  const CopyCall &copy = std::get<CopyCall>(call);
  if (copy.destination != copy.source)
    onAllThreads(static_cast<int64_t>(copy.bytes), kCopyGrain,
                 [&](int64_t begin, int64_t end) {
                   std::memcpy(
                       static_cast<std::byte *>(copy.destination) + begin,
                       static_cast<const std::byte *>(copy.source) + begin,
                       static_cast<size_t>(end - begin));
                 });
  return {};
}

Status CpuExecutable::run(ProgramKind program, size_t begin, size_t end) {
  auto &calls = programs[static_cast<size_t>(program)];
  if (begin > end || end > calls.size())
    return failed(fmt::format("steps {} to {} of {} were asked for", begin, end,
                              calls.size()));
  const auto &steps = plan->program(program).steps;
  for (size_t i = begin; i < end; ++i)
    HALFTONE_RETURN_IF_ERROR(withContext(steps[i].node, runCall(calls[i])));
  return {};
}

} // namespace halftone::runtime::cpu
