// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"
#include "compiler/graph/Reduce.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ReduceL1Op::evaluate(ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  return evaluateReduction(
      *this, operands[0], getReducedAxes(), results, 0,
      [](auto sum, auto x) {
        return wrappingAdd(sum, x < 0 ? wrappingNeg(x) : x);
      },
      [](auto x, int64_t) { return x; });
}

Value ReduceL1Op::emitInit(ScalarBuilder &b) {
  return emitZero(b, elementTypeOf(getData()));
}
Value ReduceL1Op::emitCombine(ScalarBuilder &b, Value accumulator,
                              Value element) {
  return b.add(accumulator, element);
}
Value ReduceL1Op::emitPrepare(ScalarBuilder &b, Value element) {
  return b.abs(element);
}
Value ReduceL1Op::emitFinish(ScalarBuilder &b, Value accumulator,
                             int64_t count) {
  return accumulator;
}

SmallVector<Value> ReduceL1Op::buildVjp(ImplicitLocOpBuilder &b,
                                        ValueRange grads) {
  SmallVector<int64_t> axes = getReducedAxes();
  Value dy = keepReducedAxes(b, grads[0], getData(), axes);
  return {b.create<MulOp>(dy, b.create<SignOp>(getData()))};
}

} // namespace halftone::graph
