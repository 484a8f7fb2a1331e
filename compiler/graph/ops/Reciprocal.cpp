// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ReciprocalOp::evaluate(ArrayRef<HostTensor> operands,
                                     SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](double x) { return 1 / x; });
}

Value ReciprocalOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.div(b.constant(1), x[0]);
}

// dx = -dy y^2.
SmallVector<Value> ReciprocalOp::buildVjp(ImplicitLocOpBuilder &b,
                                          ValueRange grads) {
  Value square = b.create<MulOp>(getY(), getY());
  return {b.create<NegOp>(b.create<MulOp>(grads[0], square))};
}

} // namespace halftone::graph
