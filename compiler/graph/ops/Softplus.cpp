// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SoftplusOp::evaluate(ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results, [](double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  });
}

Value SoftplusOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value tail = b.log1p(b.exp(b.neg(b.abs(x[0]))));
  return b.add(b.maximum(x[0], b.constant(0)), tail);
}

SmallVector<Value> SoftplusOp::buildVjp(ImplicitLocOpBuilder &b,
                                        ValueRange grads) {
  return {b.create<MulOp>(grads[0], b.create<SigmoidOp>(getX()))};
}

} // namespace halftone::graph
