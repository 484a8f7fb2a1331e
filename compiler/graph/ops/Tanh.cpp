// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult TanhOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](double x) { return std::tanh(x); });
}

Value TanhOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.tanh(x[0]);
}

// dx = dy (1 - y^2): only the output is read, so the input may be freed.
SmallVector<Value> TanhOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  Value y = getY(), dy = grads[0];
  Value slope = b.create<MulOp>(b.create<MulOp>(y, y), dy);
  return {b.create<SubOp>(dy, slope)};
}

} // namespace halftone::graph
