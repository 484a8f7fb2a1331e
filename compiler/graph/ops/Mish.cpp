// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult MishOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results, [](double x) {
    return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
  });
}

Value MishOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value tail = b.log1p(b.exp(b.neg(b.abs(x[0]))));
  Value softplus = b.add(b.maximum(x[0], b.constant(0)), tail);
  return b.mul(x[0], b.tanh(softplus));
}

// With t = tanh(softplus(x)): dx = dy (t + x sigmoid(x) (1 - t^2)).
SmallVector<Value> MishOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  Value x = getX();
  Value t = b.create<TanhOp>(b.create<SoftplusOp>(x));
  Value rest = b.create<SubOp>(scalarLike(b, x, 1), b.create<MulOp>(t, t));
  Value inner =
      b.create<MulOp>(b.create<MulOp>(x, b.create<SigmoidOp>(x)), rest);
  return {b.create<MulOp>(grads[0], b.create<AddOp>(t, inner))};
}

} // namespace halftone::graph
