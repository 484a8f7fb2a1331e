// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult LeakyReluOp::evaluate(ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  double alpha = getAlpha().convertToDouble();
  return evaluateElementwise<1>(*this, operands, results, [&](double x) {
    return x > 0 ? x : alpha * x;
  });
}

Value LeakyReluOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value scaled = b.mul(x[0], b.constant(getAlpha().convertToDouble()));
  return b.select(b.compare(Compare::Greater, x[0], b.constant(0)), x[0],
                  scaled);
}

SmallVector<Value> LeakyReluOp::buildVjp(ImplicitLocOpBuilder &b,
                                         ValueRange grads) {
  Value scaled = times(b, grads[0], getAlpha().convertToDouble());
  return {b.create<WhereOp>(isGreater(b, getX(), 0), grads[0], scaled)};
}

} // namespace halftone::graph
