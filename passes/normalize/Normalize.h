// SPDX-License-Identifier: Apache-2.0
// From what an exporter wrote to what the later phases expect.
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::passes {

struct NormalizeOptions {
  bool training =
      true; ///< the program is for training: batch statistics, dropout
  bool trainBatchNorm = true; ///< --batch-norm train | frozen
  bool dropout = true;        ///< --dropout on | off
};

/// A persistent value and what it becomes when the step is applied.
using PendingUpdate = std::pair<mlir::Value, mlir::Value>;

/// Needs: an imported program. Leaves: exporter idioms rewritten, composites
/// without a gradient rule expanded, batch norm and dropout in training (or
/// evaluation) form; no dead ops. Returns the statistics' updates (training
/// only).
llvm::FailureOr<llvm::SmallVector<PendingUpdate>>
normalize(graph::ProgramOp program, const NormalizeOptions &options);

} // namespace halftone::passes
