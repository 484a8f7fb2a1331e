// SPDX-License-Identifier: Apache-2.0
// Evaluates one step of an exec program on the host: what the device should
// have computed, before any rounding.
#pragma once
#include "compiler/exec/ExecOps.h"
#include "compiler/reference/Interpreter.h"

namespace halftone::reference {

/// Row-major tensor type of a step's buffer.
mlir::RankedTensorType tensorTypeOf(mlir::Value buffer);

/// One tensor per input of `step`, of the buffer's shape; gives one per output.
/// A launch is evaluated by `interpreter` through its kernel's fused region,
/// which is looked up in the nearest symbol table.
llvm::FailureOr<llvm::SmallVector<HostTensor>>
runStep(exec::StepOpInterface step, llvm::ArrayRef<HostTensor> inputs,
        Interpreter &interpreter);

/// The fused region that a launch runs; fails with a diagnostic.
llvm::FailureOr<graph::FusedOp> fusedOf(exec::LaunchOp launch);

/// The sum of |term| behind each output element of a matmul or convolution:
/// the step evaluated with absolute inputs.
llvm::FailureOr<llvm::SmallVector<HostTensor>>
runStepOnMagnitudes(exec::StepOpInterface step,
                    llvm::ArrayRef<HostTensor> inputs);

/// Products added up for one output element of a matmul or convolution, else 1.
int64_t termCount(exec::StepOpInterface step);

} // namespace halftone::reference
