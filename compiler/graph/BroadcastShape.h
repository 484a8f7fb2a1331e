// SPDX-License-Identifier: Apache-2.0
// NumPy broadcasting and other shape arithmetic shared by the operators' type
// rules.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/ValueRange.h"

namespace halftone::graph {

/// The shape of a value that is known to be a ranked tensor.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value v);
/// Rank of the same.
int64_t rankOf(mlir::Value v);
/// Element type of the same.
mlir::Type elementTypeOf(mlir::Value v);

/// NumPy broadcasting of two shapes; fails where two extents differ and neither
/// is 1.
llvm::FailureOr<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Result type of an elementwise op: all operands broadcast; element type of
/// operand `typeOperand`, i1 if that is negative.
llvm::LogicalResult inferElementwise(std::optional<mlir::Location> location,
                                     mlir::ValueRange operands, int typeOperand,
                                     llvm::SmallVectorImpl<mlir::Type> &types);

/// Same shapes and both float or both integer: colouring may change which
/// float.
bool haveSameShapes(mlir::TypeRange a, mlir::TypeRange b);

/// Brings negative axes into 0..rank-1; fails outside [-rank, rank).
llvm::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank);
/// The same for a list, sorted ascending; also fails for duplicates. Empty or
/// absent lists give all axes.
llvm::FailureOr<llvm::SmallVector<int64_t>>
normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

/// Product of the extents; the largest integer where it does not fit.
int64_t numElements(llvm::ArrayRef<int64_t> shape);

} // namespace halftone::graph
