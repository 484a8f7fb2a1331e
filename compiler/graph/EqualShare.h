// SPDX-License-Identifier: Apache-2.0
// The gradient of a reduction to an extreme.
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace halftone::graph {

/// `dy` shared evenly among the elements of `data` that equal `extreme`; both
/// have the reduced `axes` kept.
mlir::Value shareAmongEqual(mlir::ImplicitLocOpBuilder &b, mlir::Value data,
                            mlir::Value extreme, mlir::Value dy,
                            llvm::ArrayRef<int64_t> axes);

} // namespace halftone::graph
