// SPDX-License-Identifier: Apache-2.0
// Class labels against a tensor of class scores: one-hot comparison, validity,
// and the host loop over labels.
#pragma once
#include "compiler/interfaces/HostTensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace halftone::graph {

/// Fails, with a message at `location`, unless `target` has the shape of
/// `scores` without its class axis `axis` (in 0..rank-1).
llvm::LogicalResult checkLabels(std::optional<mlir::Location> location,
                                mlir::Value scores, mlir::Value target,
                                int64_t axis);

/// Labels as bool tensors.
struct Labels {
  mlir::Value oneHot; ///< Shape of the scores: where the class is the label.
  mlir::Value valid; ///< The same with extent 1 along the class axis: where the
                     ///< label is not ignored.
};
Labels buildLabels(mlir::ImplicitLocOpBuilder &b, mlir::Value scores,
                   mlir::Value target, int64_t axis,
                   std::optional<int64_t> ignoreIndex);

/// `condition` as 1 and 0 in FP32.
mlir::Value asNumber(mlir::ImplicitLocOpBuilder &b, mlir::Value condition);
/// Sum over everything, a scalar of shape [].
mlir::Value total(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// Calls `fn(position, label, offset of the first class in the scores, stride
/// of the class axis)` for each label that is not ignored. Fails with a message
/// at `op` for a label outside the classes.
llvm::LogicalResult
forEachLabel(mlir::Operation *op, const HostTensor &scores,
             const HostTensor &target, int64_t axis,
             std::optional<int64_t> ignoreIndex,
             llvm::function_ref<void(int64_t position, int64_t label,
                                     int64_t first, int64_t stride)>
                 fn);

} // namespace halftone::graph
