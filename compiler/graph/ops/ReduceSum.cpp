// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ReduceSumOp::evaluate(ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  return evaluateReduction(*this, operands[0], getReducedAxes(), results, 0.0,
                           std::plus<double>(),
                           [](double sum, int64_t) { return sum; });
}

Value ReduceSumOp::emitInit(ScalarBuilder &b) {
  return isa<FloatType>(elementTypeOf(getData()))
             ? b.constant(0)
             : b.constantInt(0, elementTypeOf(getData()));
}
Value ReduceSumOp::emitCombine(ScalarBuilder &b, Value accumulator,
                               Value element) {
  return b.add(accumulator, element);
}
Value ReduceSumOp::emitPrepare(ScalarBuilder &, Value element) {
  return element;
}
Value ReduceSumOp::emitFinish(ScalarBuilder &, Value accumulator, int64_t) {
  return accumulator;
}

SmallVector<Value> ReduceSumOp::buildVjp(ImplicitLocOpBuilder &b,
                                         ValueRange grads) {
  Value kept = keepReducedAxes(b, grads[0], getData(), getReducedAxes());
  return {b.create<ExpandOp>(kept, shapeOf(getData()))};
}

} // namespace halftone::graph
