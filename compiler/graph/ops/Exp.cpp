// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ExpOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](double x) { return std::exp(x); });
}

Value ExpOp::emitScalar(ScalarBuilder &b, ValueRange x) { return b.exp(x[0]); }

SmallVector<Value> ExpOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  return {b.create<MulOp>(grads[0], getY())};
}

} // namespace halftone::graph
