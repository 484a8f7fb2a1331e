// SPDX-License-Identifier: Apache-2.0
// What composite operators are made of: reductions that keep their axes, and
// wide arithmetic between low-precision edges.
#pragma once
#include "compiler/graph/Movement.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace halftone::graph {

/// FP16 and BF16 become FP32; anything else stays as it is. A composite
/// computes wide whatever it reads.
mlir::Value widen(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
/// `v` in the element type of `like`: the result of a decomposition in the type
/// that colouring gave the composite.
mlir::Value toTypeOf(mlir::ImplicitLocOpBuilder &b, mlir::Value v,
                     mlir::Value like);
/// FP32, or FP64 where `like` is: the type of saved statistics.
mlir::Type wideTypeOf(mlir::Value like);

/// Reductions of `x` along `axes` (in 0..rank-1), which stay with extent 1.
mlir::Value sumOver(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                    llvm::ArrayRef<int64_t> axes);
mlir::Value meanOver(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                     llvm::ArrayRef<int64_t> axes);
mlir::Value maxOver(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                    llvm::ArrayRef<int64_t> axes);
/// `x` summed along the axes where `shape` (of the same rank) has extent 1;
/// those stay.
mlir::Value sumTo(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                  llvm::ArrayRef<int64_t> shape);

} // namespace halftone::graph
