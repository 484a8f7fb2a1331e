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

CUdeviceptr deviceAddress(const void *address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

} // namespace

RunMode RunMode::fromEnvironment() {
  RunMode mode;
  mode.stepwise = isSet("HALFTONE_CUDA_DEBUG", "1");
  mode.graphs = !mode.stepwise && !isSet("HALFTONE_CUDA_GRAPHS", "0");
  return mode;
}

Result<std::unique_ptr<Executable>>
CudaExecutable::prepare(Device &device, CudaContext &context,
                        std::shared_ptr<const Plan> plan,
                        std::vector<void *> arenas) {
  std::unique_ptr<CudaExecutable> executable(
      new CudaExecutable(context, std::move(plan), std::move(arenas)));
  executable->kernels = KernelModules::load(context, CubinCache::ofUser(),
                                            executable->plan->modules);
  HALFTONE_RETURN_IF_ERROR(executable->prepareProgram(ProgramKind::Train));
  HALFTONE_RETURN_IF_ERROR(executable->prepareProgram(ProgramKind::Eval));
  HALFTONE_RETURN_IF_ERROR(executable->bindWorkspace(device));
  return std::unique_ptr<Executable>(std::move(executable));
}

CudaExecutable::~CudaExecutable() {
  // What is still queued uses the kernels and the workspace.
  if (context.enter().ok())
    (void)context.synchronize(Queue::Compute);
}

void *CudaExecutable::address(uint32_t buffer) const {
  const Buffer &b = plan->buffers[buffer];
  auto *base = static_cast<std::byte *>(arenas[b.arena]);
  return base ? base + b.offset : nullptr;
}

Status CudaExecutable::prepareProgram(ProgramKind kind) {
  auto &calls = programs[static_cast<size_t>(kind)];
  for (const Step &step : plan->program(kind).steps) {
    auto call = prepareStep(step);
    HALFTONE_RETURN_IF_ERROR(withContext(step.node, call.status()));
    calls.push_back(std::move(*call));
  }
  return {};
}

Result<CudaExecutable::Call> CudaExecutable::prepareStep(const Step &step) {
  if (std::holds_alternative<MatMul>(step.kind))
    return prepareMatMul(step);
  if (std::holds_alternative<Convolution>(step.kind))
    return prepareConvolution(step);
  if (std::holds_alternative<Copy>(step.kind))
    return prepareCopy(step);
  return prepareLaunch(step);
}

Result<CudaExecutable::Call> CudaExecutable::prepareLaunch(const Step &step) {
  const Kernel &kernel = plan->kernels[std::get<Launch>(step.kind).kernel];
  KernelCall call{nullptr, &kernel, {}};
  for (const auto *list : {&step.inputs, &step.outputs})
    for (uint32_t buffer : *list)
      call.buffers.push_back(address(buffer));
  auto function = kernels.function(context, kernel, call.buffers.size());
  HALFTONE_RETURN_IF_ERROR(function);
  call.function = *function;
  return Call(std::move(call));
}

Result<CudaExecutable::Call> CudaExecutable::prepareMatMul(const Step &step) {
  auto geometry = matmulGeometry(*plan, step);
  HALFTONE_RETURN_IF_ERROR(geometry);
  if (geometry->empty())
    return Call();
  if (!products) {
    auto opened = cublaslt::Handle::open(context.driver);
    HALFTONE_RETURN_IF_ERROR(opened);
    products = std::move(*opened);
  }
  auto call = cublaslt::prepareMatMul(
      *products, *geometry,
      {address(geometry->a), address(geometry->b),
       geometry->bias ? address(*geometry->bias) : nullptr,
       address(geometry->c)});
  HALFTONE_RETURN_IF_ERROR(call);
  return Call(std::move(*call));
}

Result<CudaExecutable::Call>
CudaExecutable::prepareConvolution(const Step &step) {
  auto geometry = convolutionGeometry(*plan, step);
  HALFTONE_RETURN_IF_ERROR(geometry);
  if (!convolutions) {
    auto opened =
        cudnn::Handle::open(context.driver, context.stream(Queue::Compute));
    HALFTONE_RETURN_IF_ERROR(opened);
    convolutions = std::move(*opened);
  }
  auto call = cudnn::prepareConvolution(
      *convolutions, *geometry,
      {address(geometry->x), address(geometry->w), address(geometry->y)});
  HALFTONE_RETURN_IF_ERROR(call);
  return Call(std::move(*call));
}

Result<CudaExecutable::Call> CudaExecutable::prepareCopy(const Step &step) {
  auto bytes = copyBytes(*plan, step);
  HALFTONE_RETURN_IF_ERROR(bytes);
  return Call(
      CopyCall{address(step.outputs[0]), address(step.inputs[0]), *bytes});
}

Status CudaExecutable::bindWorkspace(Device &device) {
  uint64_t bytes = 0;
  for (const auto &calls : programs)
    for (const Call &call : calls)
      if (auto *product =
              std::get_if<std::unique_ptr<cublaslt::MatMulCall>>(&call))
        bytes = std::max(bytes, (*product)->workspaceBytes());
      else if (auto *convolution =
                   std::get_if<std::unique_ptr<cudnn::ConvolutionCall>>(&call))
        bytes = std::max(bytes, (*convolution)->workspaceBytes());
  auto memory = device.allocate(bytes, "library workspace");
  HALFTONE_RETURN_IF_ERROR(memory);
  workspace = std::move(*memory);
  for (auto &calls : programs)
    for (Call &call : calls)
      if (auto *convolution =
              std::get_if<std::unique_ptr<cudnn::ConvolutionCall>>(&call))
        HALFTONE_RETURN_IF_ERROR((*convolution)->bind(workspace.data()));
  return {};
}

Status CudaExecutable::launch(KernelCall &call) {
  std::vector<void *> arguments;
  for (void *&buffer : call.buffers)
    arguments.push_back(&buffer);
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

Status CudaExecutable::explained(Status failure) {
  // A library only says that it could not; the cause may be earlier work.
  (void)context.synchronize(Queue::Compute);
  Status ended = context.enter();
  return ended.ok() ? failure : ended;
}

Status CudaExecutable::queueSteps(ProgramKind program, size_t begin,
                                  size_t end) {
  auto &calls = programs[static_cast<size_t>(program)];
  const auto &steps = plan->program(program).steps;
  for (size_t i = begin; i < end; ++i) {
    if (mode.stepwise)
      context.running({plan, program, i, i + 1});
    if (Status failure = queue(calls[i]); !failure.ok())
      return withContext(steps[i].node, explained(failure));
    if (mode.stepwise)
      HALFTONE_RETURN_IF_ERROR(
          withContext(steps[i].node, context.synchronize(Queue::Compute)));
  }
  return {};
}

Status CudaExecutable::run(ProgramKind program, size_t begin, size_t end) {
  size_t count = programs[static_cast<size_t>(program)].size();
  if (begin > end || end > count)
    return failed(
        fmt::format("steps {} to {} of {} were asked for", begin, end, count));
  HALFTONE_RETURN_IF_ERROR(context.enter());
  context.running({plan, program, begin, end});
  auto steps = [&] { return queueSteps(program, begin, end); };
  if (!mode.graphs || end - begin < 2)
    return steps();
  return recorded.run(context, {program, begin, end}, steps);
}

} // namespace halftone::runtime::cuda
