// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/graph/GraphDialect.h"
#include "llvm/ADT/StringMap.h"

namespace halftone::passes {

/// Fails where a constant index lies outside its table. For each input whose
/// values all name rows of tables, trained or not, the rows of the smallest:
/// kernels clamp a number outside, so that it must be refused where data are
/// read.
llvm::FailureOr<llvm::StringMap<int64_t>>
findIndexedTables(graph::ProgramOp program);

} // namespace halftone::passes
