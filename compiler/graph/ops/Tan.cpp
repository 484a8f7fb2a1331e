// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult TanOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](double x) { return std::tan(x); });
}

Value TanOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.div(b.sin(x[0]), b.cos(x[0]));
}

// dx = dy (1 + y^2).
SmallVector<Value> TanOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  Value square = b.create<MulOp>(getY(), getY());
  return {b.create<MulOp>(grads[0], plus(b, square, 1))};
}

} // namespace halftone::graph
