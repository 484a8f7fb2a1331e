// SPDX-License-Identifier: Apache-2.0
// Convolutions of plans by cuDNN.
#pragma once

#include "runtime/libs/cuda/TensorCopy.h"
#include "runtime/libs/cudnn/ConvolutionPlan.h"

namespace halftone::runtime::cudnn {

/// cuDNN in the context that was current at open(), on one stream. Keeps the
/// plans of equal convolutions.
class Handle {
public:
  static Result<std::unique_ptr<Handle>> open(const cuda::Driver &driver,
                                              CUstream stream);
  ~Handle();

  Result<std::shared_ptr<ConvolutionPlan>> plan(const Problem &problem);

  const Library &library;
  cudnnHandle_t handle;
  CUstream stream;
  cuda::TensorCopier copier;

private:
  Handle(const Library &library, cudnnHandle_t handle, CUstream stream,
         const cuda::Driver &driver)
      : library(library), handle(handle), stream(stream), copier(driver) {}

  std::map<Problem, Result<std::shared_ptr<ConvolutionPlan>>> plans;
};

/// A convolution whose engine was chosen and whose addresses are bound.
class ConvolutionCall {
public:
  virtual ~ConvolutionCall() = default;
  /// What bind() wants; calls that run one at a time may share it.
  virtual uint64_t workspaceBytes() const = 0;
  /// To be called once, before run().
  virtual Status bind(void *workspace) = 0;
  virtual Status run() = 0;
};

/// Sums in float32, rounded once; repeats bit for bit. Where cuDNN has no
/// fitting engine for the operands as they are, they are padded, widened to
/// float32 or turned channels-first in the workspace, whatever is the least
/// that serves. `handle` must outlive the result.
Result<std::unique_ptr<ConvolutionCall>>
prepareConvolution(Handle &handle, const ConvolutionGeometry &geometry,
                   const ConvolutionAddresses &addresses);

} // namespace halftone::runtime::cudnn
