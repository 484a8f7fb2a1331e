// SPDX-License-Identifier: Apache-2.0
// What the operators that move elements share.
#pragma once
#include "compiler/graph/Evaluate.h"
#include "compiler/interfaces/ScalarBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace halftone::graph {

/// Result 0 of a reshape: the elements of `operand` in order.
llvm::LogicalResult evaluateReshape(mlir::Operation *op,
                                    const HostTensor &operand,
                                    llvm::SmallVectorImpl<HostTensor> &results);

/// `v` in another shape of as many elements; `v` itself if it has that shape.
mlir::Value reshapeTo(mlir::ImplicitLocOpBuilder &b, mlir::Value v,
                      llvm::ArrayRef<int64_t> shape);

/// Puts a reshape in place of `op`, whose result holds the elements of its
/// first operand in order; the reshape keeps its discardable attributes.
void replaceByReshape(mlir::Operation *op, mlir::PatternRewriter &rewriter);

/// The zero of a kernel's scalar for elements of type `elementType`.
mlir::Value emitZero(ScalarBuilder &b, mlir::Type elementType);
/// A number in the same.
mlir::Value emitNumber(ScalarBuilder &b, mlir::Type elementType, double value);

/// An integer scalar as an index into an axis of `extent`: negative ones count
/// from the end, what is out of range is clamped, so that no kernel reads
/// outside its operand.
mlir::Value emitAxisIndex(ScalarBuilder &b, mlir::Value number, int64_t extent);
/// The same on the host; nullopt out of range.
std::optional<int64_t> axisIndex(int64_t number, int64_t extent);
/// Fails with a diagnostic at `op` where one of `numbers` is out of range.
llvm::LogicalResult checkAxisIndices(mlir::Operation *op,
                                     llvm::ArrayRef<int64_t> numbers,
                                     int64_t axis, int64_t extent);

/// What a slice takes from each axis: `count` elements from `start` on, `step`
/// apart (negative: backwards).
struct SliceRange {
  int64_t start, step, count;
};
/// ONNX's rules for starts, ends, axes and steps; fails for lists of different
/// lengths, bad axes and zero steps.
llvm::FailureOr<llvm::SmallVector<SliceRange>>
sliceRanges(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> starts,
            llvm::ArrayRef<int64_t> ends,
            std::optional<llvm::ArrayRef<int64_t>> axes,
            std::optional<llvm::ArrayRef<int64_t>> steps);

} // namespace halftone::graph
