// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult CeluOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  double alpha = getAlpha().convertToDouble();
  return evaluateElementwise<1>(*this, operands, results, [&](double x) {
    return x > 0 ? x : alpha * std::expm1(x / alpha);
  });
}

Value CeluOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value zero = b.constant(0), alpha = b.constant(getAlpha().convertToDouble());
  Value tail = b.expm1(b.div(b.minimum(x[0], zero), alpha));
  return b.select(b.compare(Compare::Greater, x[0], zero), x[0],
                  b.mul(alpha, tail));
}

// Below 0 the slope exp(x / alpha) is y / alpha + 1.
SmallVector<Value> CeluOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  Value dy = grads[0];
  Value slope = plus(b, times(b, getY(), 1 / getAlpha().convertToDouble()), 1);
  return {b.create<WhereOp>(isGreater(b, getX(), 0), dy,
                            b.create<MulOp>(dy, slope))};
}

} // namespace halftone::graph
