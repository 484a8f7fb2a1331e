// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::passes {

/// Puts every op behind those that it reads; what was in order stays close to
/// where it was. Fails, and moves nothing, where ops wait for each other. Takes
/// time linear in the operands but for one sort.
llvm::LogicalResult orderKernels(mlir::Block &block);

} // namespace halftone::passes
