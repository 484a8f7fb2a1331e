// SPDX-License-Identifier: Apache-2.0
// Composite operators become primitives.
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::graph {

/// Replaces every op for which `wanted` holds by its decomposition, again and
/// again; new ops inherit the old one's discardable attributes and location.
llvm::LogicalResult
decomposeOps(ProgramOp program,
             llvm::function_ref<bool(mlir::Operation *)> wanted);

} // namespace halftone::graph
