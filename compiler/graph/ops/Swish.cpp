// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SwishOp::evaluate(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  double alpha = getAlpha().convertToDouble();
  return evaluateElementwise<1>(*this, operands, results, [&](double x) {
    return x / (1 + std::exp(-alpha * x));
  });
}

Value SwishOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value one = b.constant(1),
        z = b.mul(x[0], b.constant(-getAlpha().convertToDouble()));
  return b.div(x[0], b.add(one, b.exp(z)));
}

// With s = sigmoid(alpha x): dx = dy s (1 + alpha x (1 - s)).
SmallVector<Value> SwishOp::buildVjp(ImplicitLocOpBuilder &b,
                                     ValueRange grads) {
  Value x = getX();
  double alpha = getAlpha().convertToDouble();
  Value s = b.create<SigmoidOp>(alpha == 1 ? x : times(b, x, alpha));
  Value rest = b.create<SubOp>(scalarLike(b, x, alpha), times(b, s, alpha));
  Value slope = b.create<MulOp>(s, plus(b, b.create<MulOp>(x, rest), 1));
  return {b.create<MulOp>(grads[0], slope)};
}

} // namespace halftone::graph
