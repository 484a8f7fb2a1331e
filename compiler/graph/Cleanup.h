// SPDX-License-Identifier: Apache-2.0
// Canonicalization, common subexpressions and dead ops: what every phase runs
// when it has built something.
#pragma once
#include "compiler/graph/GraphDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace halftone::graph {

/// Erases pure ops without uses.
void eraseDeadOps(mlir::Block &block);

/// Merges equal pure ops of a block (same name, operands, attributes, types;
/// locations and origins do not count).
void mergeEqualOps(mlir::Block &block);

/// Applies the operators' own canonicalization patterns and `extra` to a fixed
/// point, then merges and erases.
llvm::LogicalResult
cleanUp(ProgramOp program,
        llvm::function_ref<void(mlir::RewritePatternSet &)> extra = nullptr);

} // namespace halftone::graph
