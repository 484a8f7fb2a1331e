// SPDX-License-Identifier: Apache-2.0
// What arg_max and arg_min share.
#pragma once
#include "compiler/interfaces/HostTensor.h"
#include "compiler/interfaces/ScalarBuilder.h"

namespace halftone::graph {

/// Result type: i64, the axis removed or, with `keepdims`, of extent 1.
llvm::LogicalResult inferArgReduction(std::optional<mlir::Location> location,
                                      mlir::Value data, int64_t axis,
                                      bool keepdims,
                                      llvm::SmallVectorImpl<mlir::Type> &types);

/// Place along `axis` of the element that `beats` all before it.
llvm::LogicalResult evaluateArgReduction(
    mlir::Operation *op, const HostTensor &data, int64_t axis,
    llvm::SmallVectorImpl<HostTensor> &results,
    llvm::function_ref<bool(double element, double best)> beats);

/// The same as a loop over operand 0; an element beats the best one so far
/// where `beats` holds between the two.
mlir::Value emitArgReduction(ElementBuilder &b, mlir::Value data, int64_t axis,
                             bool keepdims, mlir::ValueRange index,
                             Compare beats);

} // namespace halftone::graph
