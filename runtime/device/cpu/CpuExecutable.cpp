// SPDX-License-Identifier: Apache-2.0
// Steps run in order; the work of one step is spread over OpenMP's threads,
// the same that oneDNN uses.
#include "runtime/device/cpu/CpuExecutable.h"

#include <algorithm>
#include <cstring>
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

Status runCall(Call &call) {
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

} // namespace

Result<std::unique_ptr<Executable>>
CpuExecutable::prepare(Device &device, std::shared_ptr<const Plan> plan,
                       std::vector<void *> arenas,
                       const std::vector<ProgramKind> &kinds) {
  std::unique_ptr<CpuExecutable> executable(
      new CpuExecutable(std::move(plan), std::move(arenas)));
  const Plan &p = *executable->plan;
  if (!p.kernels.empty()) {
    auto library = KernelLibrary::load(p.modules, p.kernels);
    HALFTONE_RETURN_IF_ERROR(library);
    executable->kernels = std::move(*library);
  }
  HALFTONE_RETURN_IF_ERROR(executable->prepareSteps(kinds));
  HALFTONE_RETURN_IF_ERROR(executable->bindScratch(device));
  return std::unique_ptr<Executable>(std::move(executable));
}

Result<Call> CpuExecutable::prepareLaunch(uint32_t kernel,
                                          std::vector<void *> buffers) {
  const Kernel &k = plan->kernels[kernel];
  return Call(KernelCall{kernels->function(kernel), std::move(buffers),
                         k.workItems, k.grain});
}

Result<Call> CpuExecutable::prepareMatMul(const MatMulGeometry &geometry,
                                          const MatMulAddresses &addresses) {
  auto call = onednn::prepareMatMul(geometry, addresses);
  HALFTONE_RETURN_IF_ERROR(call);
  return Call(std::move(*call));
}

Result<Call>
CpuExecutable::prepareConvolution(const ConvolutionGeometry &geometry,
                                  const ConvolutionAddresses &addresses) {
  auto call = onednn::prepareConvolution(geometry, addresses);
  HALFTONE_RETURN_IF_ERROR(call);
  return Call(std::move(*call));
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

Status CpuExecutable::run(ProgramKind program, size_t begin, size_t end) {
  HALFTONE_RETURN_IF_ERROR(checkRange(program, begin, end));
  const auto &steps = plan->program(program).steps;
  for (size_t i = begin; i < end; ++i)
    HALFTONE_RETURN_IF_ERROR(
        withContext(steps[i].node, runCall(calls(program)[i])));
  return {};
}

} // namespace halftone::runtime::cpu
