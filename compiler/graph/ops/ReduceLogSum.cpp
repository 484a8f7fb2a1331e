// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"
#include "compiler/graph/Reduce.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ReduceLogSumOp::evaluate(ArrayRef<HostTensor> operands,
                                       SmallVectorImpl<HostTensor> &results) {
  return evaluateReduction(
      *this, operands[0], getReducedAxes(), results, 0,
      [](auto sum, auto x) { return wrappingAdd(sum, x); },
      [](auto sum, int64_t) { return std::log(static_cast<double>(sum)); });
}

Value ReduceLogSumOp::emitInit(ScalarBuilder &b) {
  return emitZero(b, elementTypeOf(getData()));
}
Value ReduceLogSumOp::emitCombine(ScalarBuilder &b, Value accumulator,
                                  Value element) {
  return b.add(accumulator, element);
}
Value ReduceLogSumOp::emitPrepare(ScalarBuilder &b, Value element) {
  return element;
}
Value ReduceLogSumOp::emitFinish(ScalarBuilder &b, Value accumulator,
                                 int64_t count) {
  return b.log(accumulator);
}

SmallVector<Value> ReduceLogSumOp::buildVjp(ImplicitLocOpBuilder &b,
                                            ValueRange grads) {
  SmallVector<int64_t> axes = getReducedAxes();
  Value dy = keepReducedAxes(b, grads[0], getData(), axes);
  Value y = keepReducedAxes(b, getReduced(), getData(), axes);
  Value share = b.create<DivOp>(dy, b.create<ExpOp>(y));
  return {b.create<ExpandOp>(share, shapeOf(getData()))};
}

} // namespace halftone::graph
