// SPDX-License-Identifier: Apache-2.0
// Constants that gradient rules and decompositions are made with, and
// questions about constant operands.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <optional>

namespace halftone::graph {

/// A splat of `value` as an attribute of type `type` (float, integer or bool).
mlir::DenseElementsAttr splatAttr(mlir::RankedTensorType type, double value);

/// A `graph.constant` of shape [] and type f32.
mlir::Value scalar(mlir::ImplicitLocOpBuilder &b, double value);

/// A `graph.constant` of shape [] and the element type of `like`.
mlir::Value scalarLike(mlir::ImplicitLocOpBuilder &b, mlir::Value like,
                       double value);

/// A splat `graph.constant` of the given shape and element type.
mlir::Value full(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<int64_t> shape,
                 mlir::Type elementType, double value);

/// A splat `graph.constant` of the type of `like`.
mlir::Value fullLike(mlir::ImplicitLocOpBuilder &b, mlir::Value like,
                     double value);

/// The value that all elements of a constant have; nullopt for other
/// attributes (null included).
std::optional<double> splatValue(mlir::Attribute attr);
/// The same for the value of a `graph.constant`.
std::optional<double> splatValue(mlir::Value v);

/// The elements of a constant operand as integers; nullopt where `v` is no
/// constant of integers.
std::optional<llvm::SmallVector<int64_t>> constantInts(mlir::Value v);

/// The number in an attribute of kind NumberAttr, or `fallback` where it is
/// null.
double numberOr(mlir::Attribute attr, double fallback);

} // namespace halftone::graph
