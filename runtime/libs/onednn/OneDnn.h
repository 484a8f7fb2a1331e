// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions through oneDNN (2.6 and 3.x), which only
// this folder knows. All arithmetic is float32; float16 and bfloat16 tensors
// are widened into scratch memory first, and such a result is rounded once.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/libs/StepGeometry.h"

#include <memory>
#include <string>

namespace halftone::runtime::onednn {

/// The version of the library in use: "2.6.3".
std::string version();

/// One step with its primitives made and its addresses known. Running it
/// creates and allocates nothing. Equal inputs give bit-equal results as long
/// as the number of OpenMP threads stays the same.
class LibraryCall {
public:
  virtual ~LibraryCall() = default;
  /// Memory that the call needs while it runs; calls may share it.
  virtual uint64_t scratchBytes() const = 0;
  /// Gives the call its scratch memory, 64-aligned; once, before the first run.
  virtual Status bind(void *scratch) = 0;
  virtual Status run() = 0;
};

/// Fails only where oneDNN does.
Result<std::unique_ptr<LibraryCall>> prepareMatMul(const MatMulGeometry &,
                                                   const MatMulAddresses &);
Result<std::unique_ptr<LibraryCall>>
prepareConvolution(const ConvolutionGeometry &, const ConvolutionAddresses &);

} // namespace halftone::runtime::onednn
