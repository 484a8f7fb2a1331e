// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"
#include "compiler/graph/Reduce.h"
#include "compiler/graph/TensorMath.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult
ReduceLogSumExpOp::evaluate(ArrayRef<HostTensor> operands,
                            SmallVectorImpl<HostTensor> &results) {
  SmallVector<int64_t> axes = getReducedAxes();
  SmallVector<HostTensor> largest;
  auto larger = [](auto m, auto x) { return x != x || x > m ? x : m; };
  if (failed(evaluateReduction(
          *this, operands[0], axes, largest,
          -std::numeric_limits<double>::infinity(), larger,
          [](auto m, int64_t) { return std::isfinite(m) ? m : 0; })))
    return failure();
  HostTensor shifted = operands[0];
  SmallVector<int64_t> kept(shifted.getShape()), index(shifted.getRank(), 0);
  for (int64_t axis : axes)
    kept[axis] = 1;
  for (double &x : shifted.floats) {
    x = std::exp(x - largest[0].floats[broadcastOffset(index, kept)]);
    nextIndex(index, shifted.getShape());
  }
  if (failed(evaluateReduction(
          *this, shifted, axes, results, 0,
          [](auto sum, auto x) { return wrappingAdd(sum, x); },
          [](auto sum, int64_t) {
            return std::log(static_cast<double>(sum));
          })))
    return failure();
  for (auto [y, m] : llvm::zip_equal(results.back().floats, largest[0].floats))
    y += m;
  return success();
}

// An infinite maximum is not subtracted: inf - inf would be NaN.
SmallVector<Value> ReduceLogSumExpOp::decompose(ImplicitLocOpBuilder &b) {
  SmallVector<int64_t> axes = getReducedAxes();
  Value largest = b.create<ReduceMaxOp>(getData(), axes);
  Value shift = keepWhere(b, b.create<IsFiniteOp>(largest), largest);
  Value terms = b.create<ExpOp>(b.create<SubOp>(getData(), shift));
  Value sum = b.create<ReduceSumOp>(terms, axes);
  Value y = b.create<AddOp>(b.create<LogOp>(sum), shift);
  return {reshapeTo(b, y, shapeOf(getReduced()))};
}

// dx = dy exp(x - y): the softmax.
SmallVector<Value> ReduceLogSumExpOp::buildVjp(ImplicitLocOpBuilder &b,
                                               ValueRange grads) {
  SmallVector<int64_t> axes = getReducedAxes();
  Value dy = keepReducedAxes(b, grads[0], getData(), axes);
  Value y = keepReducedAxes(b, getReduced(), getData(), axes);
  Value share = b.create<ExpOp>(b.create<SubOp>(getData(), y));
  return {b.create<MulOp>(dy, share)};
}

} // namespace halftone::graph
