// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SeluOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  double alpha = getAlpha().convertToDouble(),
         gamma = getGamma().convertToDouble();
  return evaluateElementwise<1>(*this, operands, results, [&](double x) {
    return gamma * (x > 0 ? x : alpha * std::expm1(x));
  });
}

Value SeluOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value zero = b.constant(0);
  double alpha = getAlpha().convertToDouble(),
         gamma = getGamma().convertToDouble();
  Value tail = b.mul(b.constant(gamma * alpha), b.expm1(b.minimum(x[0], zero)));
  Value linear = b.mul(b.constant(gamma), x[0]);
  return b.select(b.compare(Compare::Greater, x[0], zero), linear, tail);
}

// Below 0 the slope gamma alpha exp(x) is y + gamma alpha.
SmallVector<Value> SeluOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  Value dy = grads[0];
  double alpha = getAlpha().convertToDouble(),
         gamma = getGamma().convertToDouble();
  Value below = b.create<MulOp>(dy, plus(b, getY(), gamma * alpha));
  return {
      b.create<WhereOp>(isGreater(b, getX(), 0), times(b, dy, gamma), below)};
}

} // namespace halftone::graph
