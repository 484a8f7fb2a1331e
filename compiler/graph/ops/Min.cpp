// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/VariadicElementwise.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult MinOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateVariadic(*this, operands, results, [](auto a, auto b) {
    return a != a || a < b ? a : b;
  });
}

Value MinOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value y = x[0];
  for (Value next : x.drop_front())
    y = b.minimum(y, next);
  return y;
}

SmallVector<Value> MinOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  return shareAmongTies(b, getOperands(), getResult(), grads[0]);
}

} // namespace halftone::graph
