// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/Extreme.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Reduce.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ReduceMinOp::evaluate(ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  return evaluateReduction(
      *this, operands[0], getReducedAxes(), results,
      std::numeric_limits<double>::infinity(),
      [](auto m, auto x) { return x != x || x < m ? x : m; },
      [](auto x, int64_t) { return x; });
}

Value ReduceMinOp::emitInit(ScalarBuilder &b) {
  return emitGreatest(b, elementTypeOf(getData()));
}
Value ReduceMinOp::emitCombine(ScalarBuilder &b, Value accumulator,
                               Value element) {
  return b.minimum(accumulator, element);
}
Value ReduceMinOp::emitPrepare(ScalarBuilder &b, Value element) {
  return element;
}
Value ReduceMinOp::emitFinish(ScalarBuilder &b, Value accumulator,
                              int64_t count) {
  return accumulator;
}

SmallVector<Value> ReduceMinOp::buildVjp(ImplicitLocOpBuilder &b,
                                         ValueRange grads) {
  return {
      shareAmongEqual(b, getData(), getReduced(), grads[0], getReducedAxes())};
}

} // namespace halftone::graph
