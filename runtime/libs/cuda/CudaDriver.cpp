// SPDX-License-Identifier: Apache-2.0
// The table of driver functions, by the names under which the toolkit's header
// calls them.
#include "runtime/libs/cuda/CudaDriver.h"

#include "runtime/libs/cuda/DynamicLibrary.h"

#include <cstdlib>
#include <fmt/format.h>

namespace halftone::runtime::cuda {
namespace {

Status bindDevice(const DynamicLibrary &library, Driver &d) {
  const Symbol symbols[] = {
      symbol("cuInit", d.init),
      symbol("cuGetErrorName", d.getErrorName),
      symbol("cuGetErrorString", d.getErrorString),
      symbol("cuDeviceGetCount", d.deviceGetCount),
      symbol("cuDeviceGet", d.deviceGet),
      symbol("cuDeviceGetName", d.deviceGetName),
      symbol("cuDeviceTotalMem_v2", d.deviceTotalMem),
      symbol("cuDeviceGetAttribute", d.deviceGetAttribute),
      symbol("cuDevicePrimaryCtxRetain", d.devicePrimaryCtxRetain),
      symbol("cuDevicePrimaryCtxRelease_v2", d.devicePrimaryCtxRelease),
      symbol("cuCtxSetCurrent", d.ctxSetCurrent),
      symbol("cuMemGetInfo_v2", d.memGetInfo),
      symbol("cuMemAlloc_v2", d.memAlloc),
      symbol("cuMemFree_v2", d.memFree),
      symbol("cuMemHostAlloc", d.memHostAlloc),
      symbol("cuMemFreeHost", d.memFreeHost),
      symbol("cuMemcpyHtoDAsync_v2", d.memcpyHtoDAsync),
      symbol("cuMemcpyDtoHAsync_v2", d.memcpyDtoHAsync),
      symbol("cuMemcpyDtoDAsync_v2", d.memcpyDtoDAsync),
      symbol("cuMemsetD8Async", d.memsetD8Async),
      symbol("cuMemsetD16Async", d.memsetD16Async),
      symbol("cuMemsetD32Async", d.memsetD32Async),
      symbol("cuMemsetD2D32Async", d.memsetD2D32Async),
  };
  return library.bind(symbols);
}

Status bindStreams(const DynamicLibrary &library, Driver &d) {
  const Symbol symbols[] = {
      symbol("cuStreamCreate", d.streamCreate),
      symbol("cuStreamDestroy_v2", d.streamDestroy),
      symbol("cuStreamSynchronize", d.streamSynchronize),
      symbol("cuStreamWaitEvent", d.streamWaitEvent),
      symbol("cuStreamBeginCapture_v2", d.streamBeginCapture),
      symbol("cuStreamEndCapture", d.streamEndCapture),
      symbol("cuEventCreate", d.eventCreate),
      symbol("cuEventDestroy_v2", d.eventDestroy),
      symbol("cuEventRecord", d.eventRecord),
      symbol("cuEventQuery", d.eventQuery),
      symbol("cuEventSynchronize", d.eventSynchronize),
      symbol("cuGraphInstantiateWithFlags", d.graphInstantiate),
      symbol("cuGraphLaunch", d.graphLaunch),
      symbol("cuGraphDestroy", d.graphDestroy),
      symbol("cuGraphExecDestroy", d.graphExecDestroy),
  };
  return library.bind(symbols);
}

Status bindKernels(const DynamicLibrary &library, Driver &d) {
  const Symbol symbols[] = {
      symbol("cuLinkCreate_v2", d.linkCreate),
      symbol("cuLinkAddData_v2", d.linkAddData),
      symbol("cuLinkComplete", d.linkComplete),
      symbol("cuLinkDestroy", d.linkDestroy),
      symbol("cuModuleLoadDataEx", d.moduleLoadDataEx),
      symbol("cuModuleUnload", d.moduleUnload),
      symbol("cuModuleGetFunction", d.moduleGetFunction),
      symbol("cuFuncGetAttribute", d.funcGetAttribute),
      symbol("cuFuncSetAttribute", d.funcSetAttribute),
      symbol("cuFuncGetParamInfo", d.funcGetParamInfo),
      symbol("cuLaunchKernel", d.launchKernel),
  };
  return library.bind(symbols);
}

Status bindAll(const DynamicLibrary &library, Driver &driver) {
  HALFTONE_RETURN_IF_ERROR(bindDevice(library, driver));
  HALFTONE_RETURN_IF_ERROR(bindStreams(library, driver));
  return bindKernels(library, driver);
}

constexpr const char *kInstall =
    "install NVIDIA's driver 580 or newer for this GPU";

Status noGpu(const Driver &driver, CUresult result) {
  const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (result == CUDA_ERROR_NO_DEVICE)
    return unsupported(
        visible ? fmt::format("the driver shows no GPU (CUDA_VISIBLE_DEVICES "
                              "is '{}')",
                              visible)
                : "the driver sees no GPU");
  return unsupported(fmt::format(
      "{}; {}", toStatus(driver, result, "starting the CUDA driver").message(),
      kInstall));
}

Status load(Driver &driver) {
  auto library = DynamicLibrary::open("libcuda.so.1");
  if (!library.ok())
    return unsupported(fmt::format("no CUDA driver: {}; {}",
                                   library.status().message(), kInstall));
  // First of all the version: an old driver lacks functions.
  const Symbol version[] = {
      symbol("cuDriverGetVersion", driver.driverGetVersion)};
  HALFTONE_RETURN_IF_ERROR(
      withContext("the CUDA driver does not fit", library->bind(version)));
  if (CUresult result = driver.driverGetVersion(&driver.version);
      result != CUDA_SUCCESS)
    return unsupported(
        fmt::format("the CUDA driver does not tell its version (error {}); {}",
                    static_cast<int>(result), kInstall));
  if (driver.version < kMinimumDriver)
    return unsupported(fmt::format("the driver serves CUDA {}, 13.0 is needed; "
                                   "{}",
                                   driver.versionText(), kInstall));
  HALFTONE_RETURN_IF_ERROR(
      withContext("the CUDA driver does not fit", bindAll(*library, driver)));
  if (CUresult result = driver.init(0); result != CUDA_SUCCESS)
    return noGpu(driver, result);
  return {};
}

/// What to do about an error; empty where the name says it all.
std::string_view remedyFor(CUresult result) {
  switch (result) {
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_ASSERT:
    return "a kernel went wrong; HALFTONE_CUDA_DEBUG=1 runs step by step and "
           "names the node";
  case CUDA_ERROR_LAUNCH_TIMEOUT:
    return "a kernel ran too long for a GPU that drives a display";
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_SYSTEM_NOT_READY:
  case CUDA_ERROR_UNKNOWN:
    return "the GPU was lost or is taken by another process; see nvidia-smi "
           "and "
           "the kernel log (Xid)";
  case CUDA_ERROR_OUT_OF_MEMORY:
    return "use a smaller batch, or free the GPU's memory";
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    return "compile the plan for this GPU (--target cuda:sm_NN) or update the "
           "driver";
  default:
    return "";
  }
}

} // namespace

std::string Driver::versionText() const {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Result<const Driver *> loadDriver() { return loadOnce(load); }

Status toStatus(const Driver &driver, CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS)
    return {};
  const char *name = nullptr, *text = nullptr;
  driver.getErrorName(result, &name);
  driver.getErrorString(result, &text);
  std::string_view remedy = remedyFor(result);
  return {result == CUDA_ERROR_OUT_OF_MEMORY ? StatusCode::OutOfMemory
                                             : StatusCode::Failed,
          fmt::format("{}: {} ({}){}{}", what,
                      name ? name : "an unknown CUDA error",
                      text ? text : std::to_string(result),
                      remedy.empty() ? "" : "; ", remedy)};
}

bool isFatal(CUresult result) {
  switch (result) {
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_UNKNOWN:
    return true;
  default:
    return false;
  }
}

} // namespace halftone::runtime::cuda
