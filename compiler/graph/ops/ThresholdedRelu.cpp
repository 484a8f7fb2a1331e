// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult
ThresholdedReluOp::evaluate(ArrayRef<HostTensor> operands,
                            SmallVectorImpl<HostTensor> &results) {
  double alpha = getAlpha().convertToDouble();
  return evaluateElementwise<1>(*this, operands, results,
                                [&](double x) { return x > alpha ? x : 0; });
}

Value ThresholdedReluOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value passes = b.compare(Compare::Greater, x[0],
                           b.constant(getAlpha().convertToDouble()));
  return b.select(passes, x[0], b.constant(0));
}

SmallVector<Value> ThresholdedReluOp::buildVjp(ImplicitLocOpBuilder &b,
                                               ValueRange grads) {
  return {keepWhere(b, isGreater(b, getX(), getAlpha().convertToDouble()),
                    grads[0])};
}

} // namespace halftone::graph
