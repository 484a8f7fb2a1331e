// SPDX-License-Identifier: Apache-2.0
// The functions of cuBLASLt that the runtime calls, found in libcublasLt.so.13
// when first asked for.
#pragma once

#include "runtime/base/Status.h"

#include <cublasLt.h>
#include <string>

namespace halftone::runtime::cublaslt {

/// Declared by the toolkit's header; each is named after its function without
/// the prefix "cublasLt".
struct Library {
  std::string version; ///< "13.1.0"

  decltype(&::cublasLtGetVersion) getVersion;
  decltype(&::cublasLtGetStatusString) getStatusString;
  decltype(&::cublasLtCreate) create;
  decltype(&::cublasLtDestroy) destroy;
  decltype(&::cublasLtMatmulDescCreate) matmulDescCreate;
  decltype(&::cublasLtMatmulDescDestroy) matmulDescDestroy;
  decltype(&::cublasLtMatmulDescSetAttribute) matmulDescSetAttribute;
  decltype(&::cublasLtMatrixLayoutCreate) matrixLayoutCreate;
  decltype(&::cublasLtMatrixLayoutDestroy) matrixLayoutDestroy;
  decltype(&::cublasLtMatrixLayoutSetAttribute) matrixLayoutSetAttribute;
  decltype(&::cublasLtMatmulPreferenceCreate) preferenceCreate;
  decltype(&::cublasLtMatmulPreferenceDestroy) preferenceDestroy;
  decltype(&::cublasLtMatmulPreferenceSetAttribute) preferenceSetAttribute;
  decltype(&::cublasLtMatmulAlgoGetHeuristic) algoGetHeuristic;
  decltype(&::cublasLtMatmul) matmul;
};

/// Opens the library, once a process. Fails (StatusCode::Unsupported) with the
/// remedy where it is missing or too old.
Result<const Library *> loadLibrary();

/// Success, or a failure that names `what` was tried, the library's word for
/// the error, and a remedy.
Status toStatus(const Library &library, cublasStatus_t status,
                std::string_view what);

} // namespace halftone::runtime::cublaslt
