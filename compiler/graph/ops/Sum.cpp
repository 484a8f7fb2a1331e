// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/VariadicElementwise.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SumOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateVariadic(*this, operands, results,
                          [](auto a, auto b) { return wrappingAdd(a, b); });
}

Value SumOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value y = x[0];
  for (Value next : x.drop_front())
    y = b.add(y, next);
  return y;
}

SmallVector<Value> SumOp::buildVjp(ImplicitLocOpBuilder &, ValueRange grads) {
  return SmallVector<Value>(getNumOperands(), grads[0]);
}

} // namespace halftone::graph
