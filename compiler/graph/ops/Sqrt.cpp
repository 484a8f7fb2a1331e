// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SqrtOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](double x) { return std::sqrt(x); });
}

Value SqrtOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.sqrt(x[0]);
}

SmallVector<Value> SqrtOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  return {b.create<DivOp>(times(b, grads[0], 0.5), getY())};
}

} // namespace halftone::graph
