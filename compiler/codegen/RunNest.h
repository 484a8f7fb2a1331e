// SPDX-License-Identifier: Apache-2.0
// Loops over the reduced runs of a space at one kept index.
#pragma once
#include "compiler/codegen/ReductionPlan.h"

namespace halftone::codegen {

class RunNest {
public:
  RunNest(const ReductionPlan &plan, IndexForms &forms)
      : plan(plan), forms(forms), row(plan.space.extents.size()) {}

  /// Number of kept indices.
  int64_t rows() const {
    return plan.space.size() / std::max<int64_t>(1, plan.count);
  }

  /// Fixes the kept runs from a row number (`index`).
  void setRow(ScalarBuilder &s, mlir::Value number);
  /// Where the innermost run is kept and cut into `pieces`: fixes the other
  /// kept runs from the number of a piece, and gives its number within the run.
  mlir::Value setOuterRuns(ScalarBuilder &s, mlir::Value number,
                           int64_t pieces);
  /// Fixes one kept run.
  void setRun(unsigned run, mlir::Value index) { row[run] = index; }

  /// Domain index of the row: 0 in reduced dimensions.
  llvm::SmallVector<mlir::Value> rowIndex(ScalarBuilder &s) const;
  /// Domain index from indices of the reduced runs, in order.
  llvm::SmallVector<mlir::Value> fullIndex(ScalarBuilder &s,
                                           mlir::ValueRange reduced) const;
  /// Extents of the reduced runs.
  llvm::SmallVector<int64_t> reducedExtents() const;

  /// Whether `index` of a value of `shape` names this row.
  bool isAtRow(mlir::ValueRange index, llvm::ArrayRef<int64_t> shape);

  /// Serial loops over the reduced runs. `body` gets their indices, in order,
  /// and the carried values, and returns the next ones. With `markParallel` the
  /// innermost loop is marked kParallelLoop.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange reduced, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> loop(ScalarBuilder &s, mlir::ValueRange start,
                                      bool markParallel, Body body);

private:
  const ReductionPlan &plan;
  IndexForms &forms;
  llvm::SmallVector<mlir::Value> row; ///< By run; null for reduced ones.
};

} // namespace halftone::codegen
