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

LogicalResult ReduceL2Op::evaluate(ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  return evaluateReduction(
      *this, operands[0], getReducedAxes(), results, 0,
      [](auto sum, auto x) { return wrappingAdd(sum, wrappingMul(x, x)); },
      [](auto sum, int64_t) { return std::sqrt(static_cast<double>(sum)); });
}

Value ReduceL2Op::emitInit(ScalarBuilder &b) {
  return emitZero(b, elementTypeOf(getData()));
}
Value ReduceL2Op::emitCombine(ScalarBuilder &b, Value accumulator,
                              Value element) {
  return b.add(accumulator, element);
}
Value ReduceL2Op::emitPrepare(ScalarBuilder &b, Value element) {
  return b.mul(element, element);
}
Value ReduceL2Op::emitFinish(ScalarBuilder &b, Value accumulator,
                             int64_t count) {
  return b.sqrt(accumulator);
}

// dx = x dy / y. Where y is 0 every x is, and so is the gradient.
SmallVector<Value> ReduceL2Op::buildVjp(ImplicitLocOpBuilder &b,
                                        ValueRange grads) {
  SmallVector<int64_t> axes = getReducedAxes();
  Value dy = keepReducedAxes(b, grads[0], getData(), axes);
  Value y = keepReducedAxes(b, getReduced(), getData(), axes);
  Value divisor = b.create<WhereOp>(isEqual(b, y, 0), scalarLike(b, y, 1), y);
  return {b.create<MulOp>(getData(), b.create<DivOp>(dy, divisor))};
}

} // namespace halftone::graph
