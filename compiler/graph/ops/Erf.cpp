// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"
#include <numbers>

using namespace mlir;

namespace halftone::graph {

LogicalResult ErfOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](double x) { return std::erf(x); });
}

Value ErfOp::emitScalar(ScalarBuilder &b, ValueRange x) { return b.erf(x[0]); }

// dx = dy 2/sqrt(pi) exp(-x^2).
SmallVector<Value> ErfOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  Value square = b.create<MulOp>(getX(), getX());
  Value slope = b.create<ExpOp>(b.create<NegOp>(square));
  return {
      b.create<MulOp>(grads[0], times(b, slope, 2 * std::numbers::inv_sqrtpi))};
}

} // namespace halftone::graph
