// SPDX-License-Identifier: Apache-2.0
// What the reductions share: axes, type rule, host evaluation, and the way back
// from a reduced gradient.
#pragma once
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/Extreme.h"
#include "compiler/interfaces/HostTensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <cmath>

namespace halftone::graph {

/// Axes in 0..rank-1, ascending; all if none is given, none with `noop`.
/// Invalid axes give an empty list (the type rule refuses them).
llvm::SmallVector<int64_t>
reducedAxes(mlir::Value data, std::optional<llvm::ArrayRef<int64_t>> axes,
            bool noop);

llvm::LogicalResult inferReduction(std::optional<mlir::Location> location,
                                   mlir::Value data,
                                   std::optional<llvm::ArrayRef<int64_t>> axes,
                                   bool keepdims, bool noop,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// Host evaluation of a reduction op: `combine` folds each element, in index
/// order, into an accumulator that starts at `init`; `finish` maps the final
/// accumulator and the number of elements. Both are called with doubles, or of
/// integers with int64s (generic lambdas); an infinite `init` is then the limit
/// of the element type.
template <typename Combine, typename Finish>
llvm::LogicalResult
evaluateReduction(mlir::Operation *op, const HostTensor &data,
                  llvm::ArrayRef<int64_t> axes,
                  llvm::SmallVectorImpl<HostTensor> &results, double init,
                  Combine combine, Finish finish) {
  HostTensor out = resultTensor(op);
  llvm::SmallVector<int64_t> kept(data.getShape());
  for (int64_t axis : axes)
    kept[axis] = 1;
  auto fold = [&](const auto &elements, auto start) {
    std::vector<decltype(start)> accumulators(out.size(), start);
    llvm::SmallVector<int64_t> index(data.getRank(), 0);
    for (auto element : elements) {
      auto &accumulator = accumulators[broadcastOffset(index, kept)];
      accumulator = combine(accumulator, element);
      nextIndex(index, data.getShape());
    }
    int64_t count = out.size() ? data.size() / out.size() : 0;
    for (int64_t i = 0; i < out.size(); ++i)
      out.set(i, finish(accumulators[i], count));
  };
  if (data.isFloat())
    fold(data.floats, init);
  else
    fold(data.ints, std::isinf(init)
                        ? integerLimit(data.getElementType(), init > 0)
                        : static_cast<int64_t>(init));
  results.push_back(std::move(out));
  return llvm::success();
}

/// `reduced` (a reduction of `data` along `axes`, with or without kept axes)
/// reshaped so that it broadcasts against `data`.
mlir::Value keepReducedAxes(mlir::ImplicitLocOpBuilder &b, mlir::Value reduced,
                            mlir::Value data, llvm::ArrayRef<int64_t> axes);

} // namespace halftone::graph
