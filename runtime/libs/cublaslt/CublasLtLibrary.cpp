// SPDX-License-Identifier: Apache-2.0
// Opening of cuBLASLt and its errors in words.
#include "runtime/libs/cublaslt/CublasLtLibrary.h"

#include "runtime/libs/cuda/DynamicLibrary.h"
#include "runtime/libs/cuda/Remedies.h"

#include <fmt/format.h>

namespace halftone::runtime::cublaslt {
namespace {

using cuda::symbol;

constexpr cuda::VersionedLibrary kLibrary{
    "libcublasLt.so.13", 130000,
    "matrix products need cuBLASLt 13.0 or newer: install CUDA 13's cuBLAS, or "
    "name its folder in HALFTONE_LIBRARY_PATH"};

Status load(Library &l) {
  const cuda::Symbol symbols[] = {
      symbol("cublasLtGetVersion", l.getVersion),
      symbol("cublasLtGetStatusString", l.getStatusString),
      symbol("cublasLtCreate", l.create),
      symbol("cublasLtDestroy", l.destroy),
      symbol("cublasLtMatmulDescCreate", l.matmulDescCreate),
      symbol("cublasLtMatmulDescDestroy", l.matmulDescDestroy),
      symbol("cublasLtMatmulDescSetAttribute", l.matmulDescSetAttribute),
      symbol("cublasLtMatrixLayoutCreate", l.matrixLayoutCreate),
      symbol("cublasLtMatrixLayoutDestroy", l.matrixLayoutDestroy),
      symbol("cublasLtMatrixLayoutSetAttribute", l.matrixLayoutSetAttribute),
      symbol("cublasLtMatmulPreferenceCreate", l.preferenceCreate),
      symbol("cublasLtMatmulPreferenceDestroy", l.preferenceDestroy),
      symbol("cublasLtMatmulPreferenceSetAttribute", l.preferenceSetAttribute),
      symbol("cublasLtMatmulAlgoGetHeuristic", l.algoGetHeuristic),
      symbol("cublasLtMatmul", l.matmul),
  };
  return cuda::bindVersioned(
      kLibrary, symbols, [&] { return l.getVersion(); }, l.version);
}

constexpr cuda::Remedy kKnown[] = {
    {CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_NOT_INITIALIZED,
     "free the GPU's memory, or install a driver that serves this cuBLAS"},
    {CUBLAS_STATUS_ALLOC_FAILED, CUBLAS_STATUS_ALLOC_FAILED, cuda::kFreeMemory},
    {CUBLAS_STATUS_ARCH_MISMATCH, CUBLAS_STATUS_ARCH_MISMATCH,
     "install a cuBLAS of CUDA 13 that serves this GPU"},
    {CUBLAS_STATUS_EXECUTION_FAILED, CUBLAS_STATUS_EXECUTION_FAILED,
     cuda::kAskStepwise},
    {CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED,
     "install a newer cuBLAS of CUDA 13, or compile the plan with --color "
     "NODE=fp32"},
};
constexpr cuda::Remedies kRemedies{
    kKnown, "set CUBLASLT_LOG_LEVEL=5, which prints what cuBLASLt does, and "
            "HALFTONE_CUDA_DEBUG=1, which runs step by step"};

} // namespace

Result<const Library *> loadLibrary() { return cuda::loadOnce(load); }

Status toStatus(const Library &library, cublasStatus_t status,
                std::string_view what) {
  if (status == CUBLAS_STATUS_SUCCESS)
    return {};
  return {status == CUBLAS_STATUS_NOT_SUPPORTED ? StatusCode::Unsupported
                                                : StatusCode::Failed,
          fmt::format("cuBLASLt {}: {}: {}; {}", library.version, what,
                      library.getStatusString(status), kRemedies.of(status))};
}

} // namespace halftone::runtime::cublaslt
