// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SoftsignOp::evaluate(ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](double x) { return x / (1 + std::abs(x)); });
}

Value SoftsignOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.div(x[0], b.add(b.constant(1), b.abs(x[0])));
}

SmallVector<Value> SoftsignOp::buildVjp(ImplicitLocOpBuilder &b,
                                        ValueRange grads) {
  Value base = plus(b, b.create<AbsOp>(getX()), 1);
  return {b.create<DivOp>(grads[0], b.create<MulOp>(base, base))};
}

} // namespace halftone::graph
