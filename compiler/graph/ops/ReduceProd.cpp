// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"
#include "compiler/graph/Reduce.h"
#include "compiler/graph/TensorMath.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ReduceProdOp::evaluate(ArrayRef<HostTensor> operands,
                                     SmallVectorImpl<HostTensor> &results) {
  return evaluateReduction(
      *this, operands[0], getReducedAxes(), results, 1,
      [](auto product, auto x) { return wrappingMul(product, x); },
      [](auto x, int64_t) { return x; });
}

Value ReduceProdOp::emitInit(ScalarBuilder &b) {
  return emitNumber(b, elementTypeOf(getData()), 1);
}
Value ReduceProdOp::emitCombine(ScalarBuilder &b, Value accumulator,
                                Value element) {
  return b.mul(accumulator, element);
}
Value ReduceProdOp::emitPrepare(ScalarBuilder &b, Value element) {
  return element;
}
Value ReduceProdOp::emitFinish(ScalarBuilder &b, Value accumulator,
                               int64_t count) {
  return accumulator;
}

// The product of the others: the whole one divided by the element where no
// element is 0; where one is, only that one has a gradient.
SmallVector<Value> ReduceProdOp::buildVjp(ImplicitLocOpBuilder &b,
                                          ValueRange grads) {
  SmallVector<int64_t> axes = getReducedAxes();
  Value dy = keepReducedAxes(b, grads[0], getData(), axes);
  Value x = getData(), zero = scalarLike(b, x, 0), one = scalarLike(b, x, 1);
  Value isZero = isEqual(b, x, 0);
  Value count =
      b.create<ReduceSumOp>(b.create<CastOp>(isZero, elementTypeOf(x)), axes);
  Value nonZero = b.create<WhereOp>(isZero, one, x);
  Value product = b.create<ReduceProdOp>(nonZero, axes);
  Value without = b.create<WhereOp>(isEqual(b, count, 0),
                                    b.create<DivOp>(product, nonZero), zero);
  Value alone = b.create<AndOp>(isZero, isEqual(b, count, 1));
  return {b.create<MulOp>(dy, b.create<WhereOp>(alone, product, without))};
}

} // namespace halftone::graph
