// SPDX-License-Identifier: Apache-2.0
// The table of driver functions, by the names under which the toolkit's header
// calls them.
#include "runtime/libs/cuda/CudaDriver.h"

#include "runtime/libs/cuda/DynamicLibrary.h"
#include "runtime/libs/cuda/Remedies.h"

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

Status doesNotFit(const Status &bound) {
  return bound.ok() ? bound
                    : unsupported(fmt::format("the CUDA driver does not fit: "
                                              "{}; {}",
                                              bound.message(), kInstallDriver));
}

Status notStarted(const Driver &driver, CUresult result) {
  if (result == CUDA_ERROR_NO_DEVICE)
    return noGpu();
  return unsupported(
      toStatus(driver, result, "starting the CUDA driver").message());
}

Status bindAll(const DynamicLibrary &library, Driver &driver) {
  Status bound = bindDevice(library, driver);
  if (bound.ok())
    bound = bindStreams(library, driver);
  if (bound.ok())
    bound = bindKernels(library, driver);
  return doesNotFit(bound);
}

Status load(Driver &driver) {
  auto library = DynamicLibrary::open("libcuda.so.1");
  if (!library.ok())
    return unsupported(fmt::format("no CUDA driver: {}; {}",
                                   library.status().message(), kInstallDriver));
  // First of all the version: an old driver lacks functions.
  const Symbol version[] = {
      symbol("cuDriverGetVersion", driver.driverGetVersion)};
  HALFTONE_RETURN_IF_ERROR(doesNotFit(library->bind(version)));
  if (CUresult result = driver.driverGetVersion(&driver.version);
      result != CUDA_SUCCESS)
    return unsupported(
        fmt::format("the CUDA driver does not tell its version (error {}); {}",
                    static_cast<int>(result), kInstallDriver));
  if (driver.version < kMinimumDriver)
    return unsupported(fmt::format("the driver serves CUDA {}, 13.0 is needed; "
                                   "{}",
                                   driver.versionText(), kInstallDriver));
  HALFTONE_RETURN_IF_ERROR(bindAll(*library, driver));
  if (CUresult result = driver.init(0); result != CUDA_SUCCESS)
    return notStarted(driver, result);
  return {};
}

} // namespace

std::string Driver::versionText() const {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Result<const Driver *> loadDriver() { return loadOnce(load); }

} // namespace halftone::runtime::cuda
