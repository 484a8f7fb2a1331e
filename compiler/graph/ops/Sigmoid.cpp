// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SigmoidOp::evaluate(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results, [](double x) {
    return 1 / (1 + std::exp(-x));
  });
}

// exp overflows to infinity below -88, which gives the right 0.
Value SigmoidOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value one = b.constant(1);
  return b.div(one, b.add(one, b.exp(b.neg(x[0]))));
}

// dx = dy y (1 - y).
SmallVector<Value> SigmoidOp::buildVjp(ImplicitLocOpBuilder &b,
                                       ValueRange grads) {
  Value y = getY();
  Value slope = b.create<MulOp>(y, b.create<SubOp>(scalarLike(b, y, 1), y));
  return {b.create<MulOp>(grads[0], slope)};
}

} // namespace halftone::graph
