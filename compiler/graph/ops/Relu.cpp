// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ReluOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results, [](auto x) {
    return x > 0 || x != x ? x : decltype(x)(0);
  });
}

Value ReluOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.maximum(x[0], b.constantLike(x[0], 0));
}

SmallVector<Value> ReluOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  return {keepWhere(b, isGreater(b, getY(), 0), grads[0])};
}

} // namespace halftone::graph
