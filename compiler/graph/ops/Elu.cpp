// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult EluOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  double alpha = getAlpha().convertToDouble();
  return evaluateElementwise<1>(*this, operands, results, [&](double x) {
    return x > 0 ? x : alpha * std::expm1(x);
  });
}

// The exponential sees no positive x, so that it cannot overflow.
Value EluOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value zero = b.constant(0);
  Value tail = b.expm1(b.minimum(x[0], zero));
  Value scaled = b.mul(b.constant(getAlpha().convertToDouble()), tail);
  return b.select(b.compare(Compare::Greater, x[0], zero), x[0], scaled);
}

// Below 0 the slope alpha exp(x) is y + alpha.
SmallVector<Value> EluOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  Value x = getX(), dy = grads[0];
  Value slope = plus(b, getY(), getAlpha().convertToDouble());
  return {
      b.create<WhereOp>(isGreater(b, x, 0), dy, b.create<MulOp>(dy, slope))};
}

} // namespace halftone::graph
