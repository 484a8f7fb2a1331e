// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/graph/GraphDialect.h"
#include "llvm/ADT/StringMap.h"

namespace halftone::passes {

/// For each input whose values all name rows of tables, trained or not, the
/// rows of the smallest: kernels clamp a number outside, so that it must be
/// refused where data are read.
llvm::StringMap<int64_t> findIndexedTables(graph::ProgramOp program);

} // namespace halftone::passes
