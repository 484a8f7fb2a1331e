// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"
#include "compiler/graph/Reduce.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ReduceMeanOp::evaluate(ArrayRef<HostTensor> operands,
                                     SmallVectorImpl<HostTensor> &results) {
  return evaluateReduction(
      *this, operands[0], getReducedAxes(), results, 0, std::plus<double>(),
      [](double x, int64_t count) { return x / static_cast<double>(count); });
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
