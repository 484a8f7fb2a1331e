// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SinOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](double x) { return std::sin(x); });
}

Value SinOp::emitScalar(ScalarBuilder &b, ValueRange x) { return b.sin(x[0]); }

SmallVector<Value> SinOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  return {b.create<MulOp>(grads[0], b.create<CosOp>(getX()))};
}

} // namespace halftone::graph
