// SPDX-License-Identifier: Apache-2.0
// Reverse-mode automatic differentiation over the operators' gradient rules.
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::passes {

/// Needs: a program whose block ends in the forward graph and the scalar
/// `loss`. Appends the ops that compute the gradient of `loss`, times `seed` (a
/// scalar), with respect to each of `parameters`; returns them in order, null
/// where the loss does not depend on one. Every op without a rule on the way is
/// reported, all at once.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
buildBackward(graph::ProgramOp program, mlir::Value loss, mlir::Value seed,
              llvm::ArrayRef<mlir::Value> parameters);

} // namespace halftone::passes
