// SPDX-License-Identifier: Apache-2.0
// What the reductions share: axes, type rule, host evaluation, and the way back
// from a reduced gradient.
#pragma once
#include "compiler/interfaces/HostTensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace halftone::graph {

/// Axes in 0..rank-1, ascending; all if none is given, none with `noop`.
/// Invalid axes give an empty list (the type rule refuses them).
llvm::SmallVector<int64_t>
reducedAxes(mlir::Value data, std::optional<llvm::ArrayRef<int64_t>> axes,
            bool noop);

llvm::LogicalResult inferReduction(std::optional<mlir::Location> location,
                                   mlir::Value data,
                                   std::optional<llvm::ArrayRef<int64_t>> axes,
                                   bool keepdims, bool noop,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// Host evaluation of a reduction op: `combine` folds each element (as double,
/// in index order) into an accumulator that starts at `init`; `finish` maps the
/// final accumulator and the number of elements.
llvm::LogicalResult evaluateReduction(
    mlir::Operation *op, const HostTensor &data, llvm::ArrayRef<int64_t> axes,
    llvm::SmallVectorImpl<HostTensor> &results, double init,
    llvm::function_ref<double(double accumulator, double element)> combine,
    llvm::function_ref<double(double accumulator, int64_t count)> finish);

/// `reduced` (a reduction of `data` along `axes`, with or without kept axes)
/// reshaped so that it broadcasts against `data`.
mlir::Value keepReducedAxes(mlir::ImplicitLocOpBuilder &b, mlir::Value reduced,
                            mlir::Value data, llvm::ArrayRef<int64_t> axes);

} // namespace halftone::graph
