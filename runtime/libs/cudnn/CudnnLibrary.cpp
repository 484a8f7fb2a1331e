// SPDX-License-Identifier: Apache-2.0
// Opening of cuDNN and its errors in words.
#include "runtime/libs/cudnn/CudnnLibrary.h"

#include "runtime/libs/cuda/DynamicLibrary.h"
#include "runtime/libs/cuda/Remedies.h"

#include <array>
#include <fmt/format.h>

namespace halftone::runtime::cudnn {
namespace {

using cuda::symbol;

/// The minimum is the first one built for CUDA 13.
constexpr cuda::VersionedLibrary kLibrary{
    "libcudnn.so.9", 91200,
    "convolutions need cuDNN 9.12 or a newer 9.x for CUDA 13: install it, or "
    "name its folder in HALFTONE_LIBRARY_PATH"};

Status load(Library &l) {
  const cuda::Symbol symbols[] = {
      symbol("cudnnGetVersion", l.getVersion),
      symbol("cudnnGetCudartVersion", l.getCudartVersion),
      symbol("cudnnGetErrorString", l.getErrorString),
      symbol("cudnnGetLastErrorString", l.getLastErrorString),
      symbol("cudnnCreate", l.create),
      symbol("cudnnDestroy", l.destroy),
      symbol("cudnnSetStream", l.setStream),
      symbol("cudnnBackendCreateDescriptor", l.createDescriptor),
      symbol("cudnnBackendDestroyDescriptor", l.destroyDescriptor),
      symbol("cudnnBackendFinalize", l.finalize),
      symbol("cudnnBackendSetAttribute", l.setAttribute),
      symbol("cudnnBackendGetAttribute", l.getAttribute),
      symbol("cudnnBackendExecute", l.execute),
  };
  HALFTONE_RETURN_IF_ERROR(cuda::bindVersioned(
      kLibrary, symbols, [&] { return l.getVersion(); }, l.version));
  // The one for another CUDA has the same name and version.
  constexpr size_t kLeastCuda = 13000;
  size_t cuda = l.getCudartVersion();
  if (cuda < kLeastCuda)
    return unsupported(fmt::format("cuDNN {} is built for CUDA {}.{}; {}",
                                   l.version, cuda / 1000, cuda % 1000 / 10,
                                   kLibrary.remedy));
  return {};
}

constexpr std::string_view kLibraries =
    "install CUDA 13's NVRTC and cuBLAS where the loader finds them";

/// The first that fits counts: single errors come before their group.
constexpr cuda::Remedy kKnown[] = {
    {CUDNN_STATUS_NOT_INITIALIZED, CUDNN_STATUS_NOT_INITIALIZED,
     "free the GPU's memory, or install a driver that serves this cuDNN"},
    {CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH,
     CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH, kBrokenInstallation},
    {CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED,
     CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED, kBrokenInstallation},
    {CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER,
     CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER, cuda::kInstallDriver},
    {CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART,
     CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART,
     "install the cuDNN that is built for CUDA 13"},
    {CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH,
     CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH,
     "install a cuDNN 9.x for CUDA 13 that serves this GPU"},
    {CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING,
     CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING, kLibraries},
    {CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE,
     CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE, kBrokenInstallation},
    {CUDNN_STATUS_NOT_SUPPORTED, CUDNN_STATUS_INTERNAL_ERROR - 1, kNoEngine},
    {CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED,
     CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED, kLibraries},
    {CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
     CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, cuda::kFreeHostMemory},
    {CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED,
     CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, cuda::kFreeMemory},
    {CUDNN_STATUS_EXECUTION_FAILED_CUBLAS, CUDNN_STATUS_EXECUTION_FAILED_CUBLAS,
     kLibraries},
    {CUDNN_STATUS_EXECUTION_FAILED, CUDNN_STATUS_EXECUTION_FAILED + 999,
     cuda::kAskStepwise},
};
constexpr cuda::Remedies kRemedies{
    kKnown, "set CUDNN_LOGLEVEL_DBG=3 and CUDNN_LOGDEST_DBG=stderr, which "
            "print what cuDNN does, and HALFTONE_CUDA_DEBUG=1, which runs step "
            "by step"};

} // namespace

Result<const Library *> loadLibrary() { return cuda::loadOnce(load); }

Status toStatus(const Library &library, cudnnStatus_t status,
                std::string_view what) {
  if (status == CUDNN_STATUS_SUCCESS)
    return {};
  std::array<char, 512> detail{};
  library.getLastErrorString(detail.data(), detail.size());
  return failed(fmt::format("cuDNN {}: {}: {}{}{}; {}", library.version, what,
                            library.getErrorString(status),
                            detail[0] ? "; " : "", detail.data(),
                            kRemedies.of(status)));
}

} // namespace halftone::runtime::cudnn
