// SPDX-License-Identifier: Apache-2.0
// The driver's errors in words, with what a user can do about each.
#include "runtime/libs/cuda/CudaDriver.h"
#include "runtime/libs/cuda/Remedies.h"

#include <cstdlib>
#include <fmt/format.h>

namespace halftone::runtime::cuda {
namespace {

constexpr std::string_view kKernel =
    "a kernel went wrong; set HALFTONE_CUDA_DEBUG=1, which runs step by step "
    "and names the node, and then run under compute-sanitizer";
constexpr std::string_view kLost =
    "the GPU was lost or is taken by another process; see nvidia-smi and the "
    "kernel log (Xid)";
constexpr std::string_view kCompile =
    "compile the plan for this GPU (--target cuda:sm_NN) or update the driver";
constexpr std::string_view kCompileOnly =
    "compile the plan for this GPU (--target cuda:sm_NN)";
constexpr std::string_view kJit =
    "install the driver's PTX compiler (libnvidia-ptxjitcompiler.so.1; a "
    "container needs the driver capability 'compute')";
constexpr std::string_view kMps =
    "see whether NVIDIA's MPS server runs and has room for one more client "
    "(nvidia-cuda-mps-control), or run without it (CUDA_MPS_PIPE_DIRECTORY)";
constexpr std::string_view kGraphs =
    "set HALFTONE_CUDA_GRAPHS=0, which runs without graphs";

/// By number, as cuda.h lists them.
constexpr Remedy kKnown[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, kFreeMemory},
    {CUDA_ERROR_STUB_LIBRARY, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
     kInstallDriver},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_ERROR_DEVICE_UNAVAILABLE, kLost},
    {CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_DEVICE,
     "see whether nvidia-smi lists a GPU (a container needs --gpus all)"},
    {CUDA_ERROR_DEVICE_NOT_LICENSED, CUDA_ERROR_DEVICE_NOT_LICENSED,
     "see nvidia-smi -q for the state of the GPU's license"},
    {CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, kCompile},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU, kCompile},
    {CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE, kLost},
    {CUDA_ERROR_CONTEXT_ALREADY_IN_USE, CUDA_ERROR_CONTEXT_ALREADY_IN_USE,
     kLost},
    {CUDA_ERROR_INVALID_PTX, CUDA_ERROR_INVALID_PTX, kCompile},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE, kLost},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
     kJit},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
     kCompile},
    {CUDA_ERROR_JIT_COMPILATION_DISABLED, CUDA_ERROR_JIT_COMPILATION_DISABLED,
     "run with CUDA_DISABLE_PTX_JIT and CUDA_DISABLE_JIT unset"},
    {CUDA_ERROR_CONTAINED, CUDA_ERROR_CONTAINED, kLost},
    {CUDA_ERROR_INVALID_SOURCE, CUDA_ERROR_INVALID_SOURCE, kCompile},
    {CUDA_ERROR_FILE_NOT_FOUND, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
     kInstallDriver},
    {CUDA_ERROR_OPERATING_SYSTEM, CUDA_ERROR_OPERATING_SYSTEM, kLost},
    {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, kKernel},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
     kCompileOnly},
    {CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT,
     "a kernel ran too long for a GPU that drives a display; use a smaller "
     "batch or another GPU"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED, kLost},
    {CUDA_ERROR_ASSERT, CUDA_ERROR_ASSERT, kKernel},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_LAUNCH_FAILED, kKernel},
    {CUDA_ERROR_TENSOR_MEMORY_LEAK, CUDA_ERROR_TENSOR_MEMORY_LEAK, kKernel},
    {CUDA_ERROR_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED,
     "see whether this user may use the GPU (nvidia-smi)"},
    {CUDA_ERROR_SYSTEM_NOT_READY, CUDA_ERROR_SYSTEM_NOT_READY,
     "see whether NVIDIA's services run (nvidia-persistenced, and "
     "nvidia-fabricmanager where GPUs have NVSwitch)"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
     CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
     "install NVIDIA's driver 580 or newer for this GPU, restart after an "
     "update, and take no libcuda.so.1 of another release"},
    {CUDA_ERROR_MPS_CONNECTION_FAILED, CUDA_ERROR_MPS_CLIENT_TERMINATED, kMps},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
     CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, kGraphs},
    {CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
     kGraphs},
    {CUDA_ERROR_TIMEOUT, CUDA_ERROR_TIMEOUT, kLost},
    {CUDA_ERROR_EXTERNAL_DEVICE, CUDA_ERROR_EXTERNAL_DEVICE, kLost},
    {CUDA_ERROR_UNKNOWN, CUDA_ERROR_UNKNOWN, kLost},
};
constexpr Remedies kRemedies{kKnown, kAskStepwise};

} // namespace

Status noGpu() {
  if (const char *visible = std::getenv("CUDA_VISIBLE_DEVICES"))
    return unsupported(
        fmt::format("the driver shows no GPU (CUDA_VISIBLE_DEVICES is '{}'); "
                    "set it to one that nvidia-smi -L lists, or unset it",
                    visible));
  return unsupported(fmt::format("the driver sees no GPU; {}",
                                 kRemedies.of(CUDA_ERROR_NO_DEVICE)));
}

Status toStatus(const Driver &driver, CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS)
    return {};
  const char *name = nullptr, *text = nullptr;
  driver.getErrorName(result, &name);
  driver.getErrorString(result, &text);
  return {result == CUDA_ERROR_OUT_OF_MEMORY ? StatusCode::OutOfMemory
                                             : StatusCode::Failed,
          fmt::format(
              "{}: {} ({}); {}", what, name ? name : "an unknown CUDA error",
              text ? text : std::to_string(result), kRemedies.of(result))};
}

bool isFatal(CUresult result) {
  switch (result) {
  case CUDA_ERROR_DEINITIALIZED:
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
  case CUDA_ERROR_INVALID_CONTEXT:
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_CONTAINED:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_TENSOR_MEMORY_LEAK:
  case CUDA_ERROR_MPS_RPC_FAILURE:
  case CUDA_ERROR_MPS_CLIENT_TERMINATED:
  case CUDA_ERROR_EXTERNAL_DEVICE:
  case CUDA_ERROR_UNKNOWN:
    return true;
  default:
    return false;
  }
}

} // namespace halftone::runtime::cuda
