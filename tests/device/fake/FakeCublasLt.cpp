// SPDX-License-Identifier: Apache-2.0
// A libcublasLt.so.13 that computes nothing: each of its calls can fail.
#include "Faults.h"

#include <cublasLt.h>

namespace {

cublasStatus_t answer(const char *function) {
  return static_cast<cublasStatus_t>(faultOf(function));
}

/// A handle that means nothing, and never the null that means none.
template <typename Handle>
cublasStatus_t make(const char *function, Handle *handle) {
  static char thing;
  cublasStatus_t status = answer(function);
  if (status == CUBLAS_STATUS_SUCCESS)
    *handle = reinterpret_cast<Handle>(&thing);
  return status;
}

} // namespace

extern "C" {

size_t cublasLtGetVersion() { return 130100; }
const char *cublasLtGetStatusString(cublasStatus_t) { return "made up"; }
cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  return make(__func__, handle);
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return answer(__func__); }
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *description,
                                        cublasComputeType_t, cudaDataType_t) {
  return make(__func__, description);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t) {
  return answer(__func__);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t,
                                              cublasLtMatmulDescAttributes_t,
                                              const void *, size_t) {
  return answer(__func__);
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType, uint64_t, uint64_t,
                                          int64_t) {
  return make(__func__, layout);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t) {
  return answer(__func__);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t,
                                                cublasLtMatrixLayoutAttribute_t,
                                                const void *, size_t) {
  return answer(__func__);
}
cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  return make(__func__, preference);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) {
  return answer(__func__);
}
cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                     cublasLtMatmulPreferenceAttributes_t,
                                     const void *, size_t) {
  return answer(__func__);
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *results,
    int *found) {
  results[0] = {};
  *found = 1;
  return answer(__func__);
}
cublasStatus_t
cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void *,
               const void *, cublasLtMatrixLayout_t, const void *,
               cublasLtMatrixLayout_t, const void *, const void *,
               cublasLtMatrixLayout_t, void *, cublasLtMatrixLayout_t,
               const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t) {
  return answer(__func__);
}

} // extern "C"
