// SPDX-License-Identifier: Apache-2.0
// Everything goes into the compute stream in the plan's order; nothing waits.
#include "runtime/device/cuda/CudaExecutable.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace halftone::runtime::cuda {
namespace {

bool isSet(const char *variable, std::string_view value) {
  const char *found = std::getenv(variable);
  return found && value == found;
}

uint64_t workspaceBytes(const Call &call) {
  if (auto *product = std::get_if<std::unique_ptr<cublaslt::MatMulCall>>(&call))
    return (*product)->workspaceBytes();
  if (auto *convolution =
          std::get_if<std::unique_ptr<cudnn::ConvolutionCall>>(&call))
    return (*convolution)->workspaceBytes();
  return 0;
}

} // namespace

RunMode RunMode::fromEnvironment() {
  RunMode mode;
  mode.stepwise = isSet("HALFTONE_CUDA_DEBUG", "1");
  mode.graphs = !mode.stepwise && !isSet("HALFTONE_CUDA_GRAPHS", "0");
  return mode;
}

Result<std::unique_ptr<Executable>> CudaExecutable::prepare(
    Device &device, CudaContext &context, std::shared_ptr<const Plan> plan,
    std::vector<void *> arenas, const std::vector<ProgramKind> &kinds) {
  std::unique_ptr<CudaExecutable> executable(
      new CudaExecutable(context, std::move(plan), std::move(arenas)));
  executable->kernels = KernelModules::load(context, CubinCache::ofUser(),
                                            executable->plan->modules);
  HALFTONE_RETURN_IF_ERROR(executable->prepareSteps(kinds));
  HALFTONE_RETURN_IF_ERROR(executable->bindWorkspace(device));
  return std::unique_ptr<Executable>(std::move(executable));
}

CudaExecutable::~CudaExecutable() {
  // What is still queued uses the kernels and the workspace.
  if (context.enter().ok())
    (void)context.synchronize(Queue::Compute);
  // Calls go before the handles they were made with.
  for (auto &calls : programs)
    calls.clear();
}

Result<Call> CudaExecutable::prepareLaunch(uint32_t kernel,
                                           std::vector<void *> buffers) {
  const Kernel &k = plan->kernels[kernel];
  auto function = kernels.function(context, k, buffers.size());
  HALFTONE_RETURN_IF_ERROR(function);
  return Call(KernelCall{*function, &k, std::move(buffers)});
}

Result<Call> CudaExecutable::prepareMatMul(const MatMulGeometry &geometry,
                                           const MatMulAddresses &addresses) {
  if (geometry.empty())
    return Call();
  if (!products) {
    auto opened = cublaslt::Handle::open(context.driver);
    HALFTONE_RETURN_IF_ERROR(opened);
    products = std::move(*opened);
  }
  auto call = cublaslt::prepareMatMul(*products, geometry, addresses);
  HALFTONE_RETURN_IF_ERROR(call);
  return Call(std::move(*call));
}

Result<Call>
CudaExecutable::prepareConvolution(const ConvolutionGeometry &geometry,
                                   const ConvolutionAddresses &addresses) {
  if (!convolutions) {
    auto opened =
        cudnn::Handle::open(context.driver, context.stream(Queue::Compute));
    HALFTONE_RETURN_IF_ERROR(opened);
    convolutions = std::move(*opened);
  }
  auto call = cudnn::prepareConvolution(*convolutions, geometry, addresses);
  HALFTONE_RETURN_IF_ERROR(call);
  return Call(std::move(*call));
}

Status CudaExecutable::bindWorkspace(Device &device) {
  uint64_t bytes = 0;
  std::string purpose;
  for (ProgramKind kind : {ProgramKind::Train, ProgramKind::Eval})
    for (size_t i = 0; i < calls(kind).size(); ++i) {
      uint64_t wanted = workspaceBytes(calls(kind)[i]);
      if (wanted <= bytes)
        continue;
      bytes = wanted;
      purpose = fmt::format("the library workspace of node '{}'",
                            plan->program(kind).steps[i].node);
    }
  auto memory = device.allocate(bytes, purpose);
  HALFTONE_RETURN_IF_ERROR(memory);
  workspace = std::move(*memory);
  for (ProgramKind kind : {ProgramKind::Train, ProgramKind::Eval})
    for (size_t i = 0; i < calls(kind).size(); ++i)
      if (auto *convolution =
              std::get_if<std::unique_ptr<cudnn::ConvolutionCall>>(
                  &calls(kind)[i]))
        HALFTONE_RETURN_IF_ERROR(
            withContext(plan->program(kind).steps[i].node,
                        (*convolution)->bind(workspace.data())));
  return {};
}

Status CudaExecutable::launch(KernelCall &call) {
  std::vector<void *> arguments;
  arguments.reserve(call.buffers.size());
  for (void *&buffer : call.buffers)
    arguments.push_back(static_cast<void *>(&buffer));
  const Kernel &k = *call.kernel;
  return context.check(
      context.driver.launchKernel(call.function, k.grid[0], k.grid[1],
                                  k.grid[2], k.block[0], k.block[1], k.block[2],
                                  k.sharedBytes, context.stream(Queue::Compute),
                                  arguments.data(), nullptr),
      fmt::format("launching kernel '{}'", k.name));
}

Status CudaExecutable::queue(Call &call) {
  CUstream stream = context.stream(Queue::Compute);
  if (auto *kernel = std::get_if<KernelCall>(&call))
    return launch(*kernel);
  if (auto *product = std::get_if<std::unique_ptr<cublaslt::MatMulCall>>(&call))
    return (*product)->run(workspace.data(), stream);
  if (auto *convolution =
          std::get_if<std::unique_ptr<cudnn::ConvolutionCall>>(&call))
    return (*convolution)->run();
  const auto *copy = std::get_if<CopyCall>(&call);
  if (!copy || copy->bytes == 0 || copy->destination == copy->source)
    return {};
  return context.check(context.driver.memcpyDtoDAsync(
                           deviceAddress(copy->destination),
                           deviceAddress(copy->source), copy->bytes, stream),
                       "queueing a copy");
}

Status CudaExecutable::queueSteps(ProgramKind program, size_t begin,
                                  size_t end) {
  const auto &steps = plan->program(program).steps;
  for (size_t i = begin; i < end; ++i) {
    if (mode.stepwise)
      context.running({plan, program, i, i + 1});
    if (Status failure = queue(calls(program)[i]); !failure.ok()) {
      // A library only says that it could not, and a launch may tell of earlier
      // work: that is not this node's.
      (void)context.synchronize(Queue::Compute);
      HALFTONE_RETURN_IF_ERROR(context.whyEnded());
      return withContext(steps[i].node, failure);
    }
    if (mode.stepwise)
      HALFTONE_RETURN_IF_ERROR(
          withContext(steps[i].node, context.synchronize(Queue::Compute)));
  }
  return {};
}

Status CudaExecutable::run(ProgramKind program, size_t begin, size_t end) {
  HALFTONE_RETURN_IF_ERROR(checkRange(program, begin, end));
  HALFTONE_RETURN_IF_ERROR(context.enter());
  context.running({plan, program, begin, end});
  auto steps = [&] { return queueSteps(program, begin, end); };
  if (!mode.graphs || end - begin < 2)
    return steps();
  return recorded.run(context, {program, begin, end}, steps);
}

} // namespace halftone::runtime::cuda
