// SPDX-License-Identifier: Apache-2.0
// Compares what a device computed in one step with the host reference, fed with
// the very tensors that the device read: within one rounding of the output's
// element type plus the float32 allowance of Tolerance.h.
#pragma once
#include "compiler/reference/StepReference.h"

namespace halftone::reference {

struct StepMismatch {
  std::string step; ///< The op's name, kernel and location.
  unsigned output;
  llvm::SmallVector<int64_t> index;
  double expected, got, allowed;

  /// One line for a report.
  std::string describe() const;
};

/// The first element of `outputs` that disagrees, nullopt where all agree.
/// Integers must be equal; NaN and infinities must be where the reference (or
/// one of its float32 evaluations) has them. Fails with a diagnostic where the
/// step cannot be evaluated or a tensor does not fit its buffer.
llvm::FailureOr<std::optional<StepMismatch>>
checkStep(exec::StepOpInterface step, llvm::ArrayRef<HostTensor> inputs,
          llvm::ArrayRef<HostTensor> outputs);

} // namespace halftone::reference
