// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult HardSigmoidOp::evaluate(ArrayRef<HostTensor> operands,
                                      SmallVectorImpl<HostTensor> &results) {
  double alpha = getAlpha().convertToDouble(),
         beta = getBeta().convertToDouble();
  return evaluateElementwise<1>(*this, operands, results, [&](double x) {
    return std::max(0.0, std::min(1.0, alpha * x + beta));
  });
}

Value HardSigmoidOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value line = b.add(b.mul(x[0], b.constant(getAlpha().convertToDouble())),
                     b.constant(getBeta().convertToDouble()));
  return b.maximum(b.constant(0), b.minimum(b.constant(1), line));
}

SmallVector<Value> HardSigmoidOp::buildVjp(ImplicitLocOpBuilder &b,
                                           ValueRange grads) {
  Value inside = b.create<AndOp>(isGreater(b, getY(), 0), isLess(b, getY(), 1));
  return {
      keepWhere(b, inside, times(b, grads[0], getAlpha().convertToDouble()))};
}

} // namespace halftone::graph
