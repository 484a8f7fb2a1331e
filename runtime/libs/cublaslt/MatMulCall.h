// SPDX-License-Identifier: Apache-2.0
// Matrix products of plans by cuBLASLt.
#pragma once

#include "runtime/libs/StepGeometry.h"
#include "runtime/libs/cublaslt/CublasLtLibrary.h"
#include "runtime/libs/cuda/TensorCopy.h"

#include <memory>

namespace halftone::runtime::cublaslt {

/// cuBLASLt in the context that was current at open().
class Handle {
public:
  static Result<std::unique_ptr<Handle>> open(const cuda::Driver &driver);
  ~Handle();

  const Library &library;
  cublasLtHandle_t handle;
  cuda::TensorCopier copier;

private:
  Handle(const Library &library, cublasLtHandle_t handle,
         const cuda::Driver &driver)
      : library(library), handle(handle), copier(driver) {}
};

/// A product whose algorithm was chosen and whose addresses are bound.
class MatMulCall {
public:
  virtual ~MatMulCall() = default;
  /// What run() wants of workspace; calls that run one at a time may share it.
  virtual uint64_t workspaceBytes() const = 0;
  virtual Status run(void *workspace, CUstream stream) = 0;
};

/// Sums in float32, rounded once to the type of C; A and B of one type, TF32
/// only where the step allows it. The algorithm depends on nothing but the
/// step, its addresses' alignment, the library and the GPU, and repeats bit for
/// bit. Fails where the library has none. `handle` must outlive the result.
Result<std::unique_ptr<MatMulCall>>
prepareMatMul(Handle &handle, const MatMulGeometry &geometry,
              const MatMulAddresses &addresses);

} // namespace halftone::runtime::cublaslt
