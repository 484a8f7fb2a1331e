// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"
#include "compiler/graph/Reduce.h"
#include "compiler/graph/TensorMath.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ReduceMeanOp::evaluate(ArrayRef<HostTensor> operands,
                                     SmallVectorImpl<HostTensor> &results) {
  return evaluateReduction(
      *this, operands[0], getReducedAxes(), results, 0,
      [](auto sum, auto x) { return wrappingAdd(sum, x); },
      [](auto sum, int64_t count) {
        using T = decltype(sum);
        if (std::is_integral_v<T> && count == 0)
          return T(0);
        return sum / static_cast<T>(count);
      });
}

Value ReduceMeanOp::emitInit(ScalarBuilder &b) {
  return emitZero(b, elementTypeOf(getData()));
}
Value ReduceMeanOp::emitCombine(ScalarBuilder &b, Value accumulator,
                                Value element) {
  return b.add(accumulator, element);
}
Value ReduceMeanOp::emitPrepare(ScalarBuilder &b, Value element) {
  return element;
}
Value ReduceMeanOp::emitFinish(ScalarBuilder &b, Value accumulator,
                               int64_t count) {
  return b.div(accumulator,
               b.constantLike(accumulator, static_cast<double>(count)));
}

SmallVector<Value> ReduceMeanOp::buildVjp(ImplicitLocOpBuilder &b,
                                          ValueRange grads) {
  SmallVector<int64_t> axes = getReducedAxes();
  Value dy = keepReducedAxes(b, grads[0], getData(), axes);
  auto count = static_cast<double>(numElements(shapeOf(getData()))) /
               static_cast<double>(numElements(shapeOf(dy)));
  return {b.create<ExpandOp>(times(b, dy, 1 / count), shapeOf(getData()))};
}

} // namespace halftone::graph
