// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::passes {

/// Needs: a coloured program. Leaves: only primitives and library calls. A
/// composite's insides are f32 whatever it reads and writes, so that nothing it
/// keeps between two kernels is rounded; reductions keep their axes.
llvm::LogicalResult lowerComposites(graph::ProgramOp program);

} // namespace halftone::passes
