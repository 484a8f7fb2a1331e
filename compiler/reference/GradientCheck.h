// SPDX-License-Identifier: Apache-2.0
// Analytic gradients against central differences in double.
#pragma once
#include "compiler/reference/Interpreter.h"

namespace halftone::reference {

struct GradientCheckOptions {
  /// Step of the differences, relative to max(1, |x|).
  double step = 1e-5;
  /// Allowed error, relative to max(1, largest |gradient| of the tensor).
  double tolerance = 1e-6;
  /// Elements of a tensor that are tried, evenly spread.
  int64_t maxElements = 64;
  /// Of checkVjp: operands that no gradient flows to although results depend
  /// on them (weights of a loss, running statistics), and results that get
  /// no gradient.
  llvm::SmallVector<unsigned> ignoredOperands, ignoredResults;
};

struct GradientError {
  std::string name;
  int64_t index = 0; ///< Row-major, of the worst element.
  double analytic = 0, numeric = 0, error = 0; ///< Relative as in the options.
};

struct GradientReport {
  std::vector<GradientError> worst; ///< One per tensor.
  double tolerance = 0;

  bool ok() const;
  /// Names of the failing tensors with values, a line each; empty where ok.
  std::string describe() const;
};

/// Compares `analytic`, the gradients of sum(output) by the names of inputs,
/// parameters or states of `forward`, with differences at `named`.
llvm::FailureOr<GradientReport>
checkGradient(graph::ProgramOp forward, const TensorMap &named,
              llvm::StringRef output, const TensorMap &analytic,
              const GradientCheckOptions &options = {});

/// Checks the gradient rule of one op at `operands` for fixed pseudo-random
/// gradients of its float results. Names are "operand N"; operands that are no
/// floats are left out, as are those to which the rule lets no gradient flow
/// while differences are zero too. `op` is cloned, its program is not changed.
llvm::FailureOr<GradientReport>
checkVjp(mlir::Operation *op, llvm::ArrayRef<HostTensor> operands,
         const GradientCheckOptions &options = {});

} // namespace halftone::reference
