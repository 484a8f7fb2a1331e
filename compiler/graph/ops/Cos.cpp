// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult CosOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](double x) { return std::cos(x); });
}

Value CosOp::emitScalar(ScalarBuilder &b, ValueRange x) { return b.cos(x[0]); }

SmallVector<Value> CosOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  Value slope = b.create<MulOp>(grads[0], b.create<SinOp>(getX()));
  return {b.create<NegOp>(slope)};
}

} // namespace halftone::graph
