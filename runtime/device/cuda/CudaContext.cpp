// SPDX-License-Identifier: Apache-2.0
// The primary context is what the math libraries use too.
#include "runtime/device/cuda/CudaContext.h"

#include <fmt/format.h>

namespace halftone::runtime::cuda {

Result<std::unique_ptr<CudaContext>> CudaContext::open(int index) {
  auto driver = loadDriver();
  HALFTONE_RETURN_IF_ERROR(driver);
  CUdevice device = 0;
  HALFTONE_RETURN_IF_ERROR(toStatus(**driver,
                                    (*driver)->deviceGet(&device, index),
                                    fmt::format("opening GPU {}", index)));
  std::unique_ptr<CudaContext> context(new CudaContext(**driver, device));
  HALFTONE_RETURN_IF_ERROR(
      withContext(fmt::format("GPU {}", index), context->start()));
  return context;
}

Status CudaContext::start() {
  HALFTONE_RETURN_IF_ERROR(
      toStatus(driver, driver.devicePrimaryCtxRetain(&context, device),
               "taking the GPU (another process may hold it for itself)"));
  retained = true;
  HALFTONE_RETURN_IF_ERROR(enter());
  int major = 0, minor = 0;
  CUresult result = driver.deviceGetAttribute(
      &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  if (result == CUDA_SUCCESS)
    result = driver.deviceGetAttribute(
        &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  sm = 10 * major + minor;
  for (CUstream &stream : streams)
    if (result == CUDA_SUCCESS)
      result = driver.streamCreate(&stream, CU_STREAM_NON_BLOCKING);
  return toStatus(driver, result, "setting up the GPU");
}

CudaContext::~CudaContext() {
  if (!retained)
    return;
  driver.ctxSetCurrent(context);
  for (CUstream stream : streams)
    if (stream)
      driver.streamDestroy(stream);
  driver.ctxSetCurrent(nullptr);
  driver.devicePrimaryCtxRelease(device);
}

Status CudaContext::enter() {
  return check(driver.ctxSetCurrent(context), "entering the GPU's context");
}

std::string CudaContext::whereText() const {
  if (!current.plan || current.begin >= current.end)
    return "";
  const std::vector<Step> &steps = current.plan->program(current.program).steps;
  const std::string &first = steps[current.begin].node;
  if (current.end - current.begin == 1)
    return fmt::format("; it happened in the step of node '{}'", first);
  return fmt::format(
      "; it happened in steps {} to {} of the {} program, from node '{}' to "
      "node '{}'",
      current.begin, current.end - 1,
      current.program == ProgramKind::Train ? "train" : "eval", first,
      steps[current.end - 1].node);
}

Status CudaContext::check(CUresult result, std::string_view what) {
  std::scoped_lock lock(mutex);
  HALFTONE_RETURN_IF_ERROR(ended);
  if (!isFatal(result))
    return toStatus(driver, result, what);
  // Whichever call tells of it, what failed are the steps that were running.
  Status status =
      toStatus(driver, result, current.plan ? "running on the GPU" : what);
  ended = {status.code(), status.message() + whereText()};
  return ended;
}

Status CudaContext::whyEnded() {
  std::scoped_lock lock(mutex);
  return ended;
}

Status CudaContext::checkSteps(CUresult result, std::string_view what) {
  Status status = check(result, what);
  return status.ok() || isFatal(result)
             ? status
             : Status(status.code(), status.message() + whereText());
}

Status CudaContext::synchronize(Queue queue) {
  return checkSteps(driver.streamSynchronize(stream(queue)),
                    "running on the GPU");
}

} // namespace halftone::runtime::cuda
