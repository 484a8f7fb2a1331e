// SPDX-License-Identifier: Apache-2.0
// What the reductions to an extreme share.
#pragma once
#include "compiler/interfaces/ScalarBuilder.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace halftone::graph {

/// The least or the greatest number of an integer type, read as signed but for
/// booleans.
int64_t integerLimit(mlir::Type type, bool greatest);

/// The least number of a kernel's scalar for elements of type `elementType`
/// (where a maximum starts), or the greatest one.
mlir::Value emitLeast(ScalarBuilder &b, mlir::Type elementType);
mlir::Value emitGreatest(ScalarBuilder &b, mlir::Type elementType);

/// The gradient of `data`, of which `extreme` is a reduction along `axes`, with
/// or without kept axes: `dy` shared evenly among the elements that equal it.
mlir::Value shareAmongEqual(mlir::ImplicitLocOpBuilder &b, mlir::Value data,
                            mlir::Value extreme, mlir::Value dy,
                            llvm::ArrayRef<int64_t> axes);

} // namespace halftone::graph
