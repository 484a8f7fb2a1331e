// SPDX-License-Identifier: Apache-2.0
// The one op with ScatterOpInterface of a region with the schedule "scatter".
#pragma once
#include "compiler/codegen/KernelFunction.h"

namespace halftone::codegen {

struct ScatterPlan {
  mlir::Operation *op;
  mlir::Value indices, updates;
  int64_t count, rows,
      width; ///< Updates [count, width] go into rows of a result [rows, width].
};

/// Fails with a diagnostic where the region has no such op or more than one, or
/// outputs of another shape than its result.
mlir::FailureOr<ScatterPlan> planScatter(graph::FusedOp fused);

/// The row that update `n` (`index`) is added to; row numbers below 0 count
/// from the end. `index` type, arbitrary for numbers out of range.
mlir::Value emitScatterRow(ScalarBuilder &s, Pull &pull,
                           const ScatterPlan &plan, mlir::Value n);

/// Whether `v` at `index` is the scatter op's own result at a row and a column.
bool isResultAt(const ScatterPlan &plan, IndexForms &forms, mlir::Value v,
                mlir::ValueRange index, mlir::Value row, mlir::Value column);

} // namespace halftone::codegen
