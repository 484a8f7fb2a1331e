// SPDX-License-Identifier: Apache-2.0
// The gradients collected so far: sums over several uses and over broadcast
// axes happen here, not in the operators' rules.
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace halftone::passes {

/// Sums `gradient` (of a shape that `shape` broadcasts to) down to `shape`.
mlir::Value sumToShape(mlir::ImplicitLocOpBuilder &b, mlir::Value gradient,
                       llvm::ArrayRef<int64_t> shape);

class GradientMap {
public:
  /// Adds `gradient` to what `value` has received.
  void accumulate(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                  mlir::Value gradient);
  /// Null where nothing arrived.
  mlir::Value lookup(mlir::Value value) const {
    return gradients.lookup(value);
  }

private:
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
};

} // namespace halftone::passes
