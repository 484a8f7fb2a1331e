// SPDX-License-Identifier: Apache-2.0
// Which inputs index tables: kernels clamp a number outside, so that it must be
// refused where data are read.
#pragma once
#include "compiler/graph/GraphDialect.h"
#include "passes/emit/EmitPlan.h"
#include "llvm/ADT/StringMap.h"
#include <limits>

namespace halftone::passes {

/// Of each element of an input, the rows of the smallest table, trained or not,
/// that it is an index into.
struct IndexedRows {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  llvm::SmallVector<int64_t> shape;
  std::vector<int64_t> rows; ///< kNone: no table, any number is allowed.
};

/// Fails where a constant index lies outside its table. Has an entry for each
/// input of which an element reaches a table as it is; what a slice, a mask or
/// a choice leaves out on the way is not an index.
llvm::FailureOr<llvm::StringMap<IndexedRows>>
findIndexedTables(graph::ProgramOp program);

/// States the values that the elements of a plan's input may have. A row of
/// data may land at each place of a batch, and is held to what all ask for.
void boundIndices(const IndexedRows &indexed, int64_t batch,
                  proto::Input &input);

} // namespace halftone::passes
