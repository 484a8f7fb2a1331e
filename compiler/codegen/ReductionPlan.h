// SPDX-License-Identifier: Apache-2.0
// What a region with the schedule "reduction" computes, in which order, and how
// its accumulators work; the same for all targets.
#pragma once
#include "compiler/codegen/AccessProbe.h"
#include "compiler/codegen/KernelFunction.h"

namespace halftone::codegen {

struct ReductionPlan {
  llvm::SmallVector<int64_t> domain;
  llvm::SmallVector<bool> reduced; ///< By dimension of the domain.
  int64_t count = 1;               ///< Elements that are combined into one.
  Space space;                     ///< Its kinds say which runs are reduced.

  /// Reductions by the number of passes that must lie before theirs.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> levels;
  /// Values of one element a row, other than inputs, constants and reductions,
  /// that are read at every element of a row: worth keeping. [l] can be
  /// computed once the levels before l are done; there is one entry more than
  /// levels.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> rowValues;
  /// Outputs that have all elements of the domain, and those of one element a
  /// row.
  llvm::SmallVector<unsigned> fullOutputs, rowOutputs;

  bool isInnermostReduced() const { return space.kinds.back(); }
};

/// Fails with a diagnostic where the region is not what the schedule promises.
mlir::FailureOr<ReductionPlan> planReductions(graph::FusedOp fused,
                                              const AccessProbe &probe);

/// Domain and reduced axes as the attributes say.
mlir::FailureOr<std::pair<llvm::SmallVector<int64_t>, llvm::SmallVector<bool>>>
reductionDomain(graph::FusedOp fused);

/// The forms of kernels whose innermost dimension is kept.
mlir::LogicalResult emitCpuColumns(KernelFunction &kernel,
                                   const ReductionPlan &plan);
mlir::LogicalResult emitCudaColumns(KernelFunction &kernel,
                                    const ReductionPlan &plan);

/// Emits the steps of one reduction. Sums and products accumulate in a wider
/// type where the target asks for it; maxima, which never round, stay as they
/// are.
class Accumulator {
public:
  Accumulator(mlir::Operation *reduction, bool mayWiden);

  mlir::Type type() const { return accumulatorType; }
  bool rounds() const { return isInexact; }
  mlir::Value init(mlir::OpBuilder &b);
  /// `element` is a scalar of the reduction's operand.
  mlir::Value combineElement(mlir::OpBuilder &b, mlir::Value accumulator,
                             mlir::Value element);
  /// Of two accumulators. With `reassociate` LLVM may split the chain that this
  /// is a link of.
  mlir::Value combine(mlir::OpBuilder &b, mlir::Value x, mlir::Value y,
                      bool reassociate = false);
  /// The reduction's scalar.
  mlir::Value finish(mlir::OpBuilder &b, mlir::Value accumulator,
                     int64_t count);

  mlir::Operation *op;

private:
  mlir::Type accumulatorType;
  bool isInexact = false;
};

} // namespace halftone::codegen
