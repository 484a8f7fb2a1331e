// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/EqualShare.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"
#include "compiler/graph/Reduce.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ReduceMaxOp::evaluate(ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  return evaluateReduction(
      *this, operands[0], getReducedAxes(), results,
      -std::numeric_limits<double>::infinity(),
      [](double m, double x) { return x != x || x > m ? x : m; },
      [](double x, int64_t) { return x; });
}

Value ReduceMaxOp::emitInit(ScalarBuilder &b) {
  Type type = elementTypeOf(getData());
  if (isa<FloatType>(type))
    return b.constant(-std::numeric_limits<double>::infinity());
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 1)
    return b.constantInt(0, type);
  return b.constantInt(APInt::getSignedMinValue(bits).getSExtValue(), type);
}
Value ReduceMaxOp::emitCombine(ScalarBuilder &b, Value accumulator,
                               Value element) {
  return b.maximum(accumulator, element);
}
Value ReduceMaxOp::emitPrepare(ScalarBuilder &b, Value element) {
  return element;
}
Value ReduceMaxOp::emitFinish(ScalarBuilder &b, Value accumulator,
                              int64_t count) {
  return accumulator;
}

SmallVector<Value> ReduceMaxOp::buildVjp(ImplicitLocOpBuilder &b,
                                         ValueRange grads) {
  SmallVector<int64_t> axes = getReducedAxes();
  Value dy = keepReducedAxes(b, grads[0], getData(), axes);
  return {shareAmongEqual(b, getData(),
                          keepReducedAxes(b, getReduced(), getData(), axes), dy,
                          axes)};
}

} // namespace halftone::graph
