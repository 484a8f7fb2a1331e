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
ReduceSumSquareOp::evaluate(ArrayRef<HostTensor> operands,
                            SmallVectorImpl<HostTensor> &results) {
  return evaluateReduction(
      *this, operands[0], getReducedAxes(), results, 0,
      [](auto sum, auto x) { return wrappingAdd(sum, wrappingMul(x, x)); },
      [](auto x, int64_t) { return x; });
}

Value ReduceSumSquareOp::emitInit(ScalarBuilder &b) {
  return emitZero(b, elementTypeOf(getData()));
}
Value ReduceSumSquareOp::emitCombine(ScalarBuilder &b, Value accumulator,
                                     Value element) {
  return b.add(accumulator, element);
}
Value ReduceSumSquareOp::emitPrepare(ScalarBuilder &b, Value element) {
  return b.mul(element, element);
}
Value ReduceSumSquareOp::emitFinish(ScalarBuilder &b, Value accumulator,
                                    int64_t count) {
  return accumulator;
}

SmallVector<Value> ReduceSumSquareOp::buildVjp(ImplicitLocOpBuilder &b,
                                               ValueRange grads) {
  SmallVector<int64_t> axes = getReducedAxes();
  Value dy = keepReducedAxes(b, grads[0], getData(), axes);
  return {b.create<MulOp>(getData(), times(b, dy, 2))};
}

} // namespace halftone::graph
