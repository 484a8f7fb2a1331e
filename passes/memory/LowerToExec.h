// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/exec/ExecOps.h"
#include "compiler/graph/GraphDialect.h"
#include "passes/memory/KernelTable.h"

namespace halftone::passes {

/// Needs: a fused program. Leaves: an exec.program of the same name in the
/// program's module, its steps in the same order, every step with `phase` and
/// its node names as location; kernels in `kernels`. Offsets of parameters and
/// gradients follow the packs; the rest is open.
llvm::FailureOr<exec::ProgramOp> lowerToExec(graph::ProgramOp program,
                                             KernelTable &kernels);

} // namespace halftone::passes
