// SPDX-License-Identifier: Apache-2.0
// The functions of the CUDA driver API that the runtime calls, found in
// libcuda.so.1 when first asked for.
#pragma once

#include "runtime/base/Status.h"

#include <cuda.h>
#include <string>

namespace halftone::runtime::cuda {

/// Declared by the toolkit's header; each is named after its function without
/// the prefix "cu".
struct Driver {
  int version = 0; ///< 1000 * major + 10 * minor of the newest CUDA it knows.

  decltype(&::cuInit) init;
  decltype(&::cuDriverGetVersion) driverGetVersion;
  decltype(&::cuGetErrorName) getErrorName;
  decltype(&::cuGetErrorString) getErrorString;
  decltype(&::cuDeviceGetCount) deviceGetCount;
  decltype(&::cuDeviceGet) deviceGet;
  decltype(&::cuDeviceGetName) deviceGetName;
  decltype(&::cuDeviceTotalMem) deviceTotalMem;
  decltype(&::cuDeviceGetAttribute) deviceGetAttribute;
  decltype(&::cuDevicePrimaryCtxRetain) devicePrimaryCtxRetain;
  decltype(&::cuDevicePrimaryCtxRelease) devicePrimaryCtxRelease;
  decltype(&::cuCtxSetCurrent) ctxSetCurrent;
  decltype(&::cuMemGetInfo) memGetInfo;
  decltype(&::cuMemAlloc) memAlloc;
  decltype(&::cuMemFree) memFree;
  decltype(&::cuMemHostAlloc) memHostAlloc;
  decltype(&::cuMemFreeHost) memFreeHost;
  decltype(&::cuMemcpyHtoDAsync) memcpyHtoDAsync;
  decltype(&::cuMemcpyDtoHAsync) memcpyDtoHAsync;
  decltype(&::cuMemcpyDtoDAsync) memcpyDtoDAsync;
  decltype(&::cuMemsetD8Async) memsetD8Async;
  decltype(&::cuMemsetD16Async) memsetD16Async;
  decltype(&::cuMemsetD32Async) memsetD32Async;
  decltype(&::cuMemsetD2D32Async) memsetD2D32Async;
  decltype(&::cuStreamCreate) streamCreate;
  decltype(&::cuStreamDestroy) streamDestroy;
  decltype(&::cuStreamSynchronize) streamSynchronize;
  decltype(&::cuStreamWaitEvent) streamWaitEvent;
  decltype(&::cuStreamBeginCapture) streamBeginCapture;
  decltype(&::cuStreamEndCapture) streamEndCapture;
  decltype(&::cuEventCreate) eventCreate;
  decltype(&::cuEventDestroy) eventDestroy;
  decltype(&::cuEventRecord) eventRecord;
  decltype(&::cuEventQuery) eventQuery;
  decltype(&::cuEventSynchronize) eventSynchronize;
  decltype(&::cuLinkCreate) linkCreate;
  decltype(&::cuLinkAddData) linkAddData;
  decltype(&::cuLinkComplete) linkComplete;
  decltype(&::cuLinkDestroy) linkDestroy;
  decltype(&::cuModuleLoadDataEx) moduleLoadDataEx;
  decltype(&::cuModuleUnload) moduleUnload;
  decltype(&::cuModuleGetFunction) moduleGetFunction;
  decltype(&::cuFuncGetAttribute) funcGetAttribute;
  decltype(&::cuFuncSetAttribute) funcSetAttribute;
  decltype(&::cuFuncGetParamInfo) funcGetParamInfo;
  decltype(&::cuLaunchKernel) launchKernel;
  decltype(&::cuGraphInstantiate) graphInstantiate;
  decltype(&::cuGraphLaunch) graphLaunch;
  decltype(&::cuGraphDestroy) graphDestroy;
  decltype(&::cuGraphExecDestroy) graphExecDestroy;

  /// "13.0".
  std::string versionText() const;
};

/// The oldest driver that serves cuBLAS and cuDNN of CUDA 13.
inline constexpr int kMinimumDriver = 13000;

/// Opens the driver and initializes it; once a process, later calls give the
/// same. Fails (StatusCode::Unsupported), with the remedy, where there is no
/// driver, where it is too old, and where it sees no GPU.
Result<const Driver *> loadDriver();

/// The failure where the driver works and shows no GPU.
Status noGpu();

/// A place in the GPU's memory, as the driver's functions take it.
inline CUdeviceptr deviceAddress(const void *address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

/// Success, or a failure that names `what` was tried, the driver's name and
/// words for the error, and a remedy. Lack of memory becomes
/// StatusCode::OutOfMemory, all else StatusCode::Failed.
Status toStatus(const Driver &driver, CUresult result, std::string_view what);

/// Whether after this error nothing more can be done in the context.
bool isFatal(CUresult result);

} // namespace halftone::runtime::cuda
