// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::graph {

/// The state `name` of the program, created with a splat initial value on first
/// use.
mlir::Value getOrCreateState(ProgramOp program, llvm::StringRef name,
                             mlir::RankedTensorType type, double init);

} // namespace halftone::graph
