// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult LogOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](double x) { return std::log(x); });
}

Value LogOp::emitScalar(ScalarBuilder &b, ValueRange x) { return b.log(x[0]); }

SmallVector<Value> LogOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  return {b.create<DivOp>(grads[0], getX())};
}

} // namespace halftone::graph
