// SPDX-License-Identifier: Apache-2.0
// Short forms of elementwise ops against a number, as gradient rules and
// decompositions need them.
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace halftone::graph {

/// `v` where the bool tensor `condition` holds, else 0.
mlir::Value keepWhere(mlir::ImplicitLocOpBuilder &b, mlir::Value condition,
                      mlir::Value v);

/// `x > bound`, `x < bound` and `x == number`, bool tensors.
mlir::Value isGreater(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                      double bound);
mlir::Value isLess(mlir::ImplicitLocOpBuilder &b, mlir::Value x, double bound);
mlir::Value isEqual(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                    double number);

/// x + number and x * number.
mlir::Value plus(mlir::ImplicitLocOpBuilder &b, mlir::Value x, double number);
mlir::Value times(mlir::ImplicitLocOpBuilder &b, mlir::Value x, double number);

} // namespace halftone::graph
