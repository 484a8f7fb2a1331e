// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult Expm1Op::evaluate(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results, [](auto x) {
    return std::expm1(static_cast<double>(x));
  });
}

Value Expm1Op::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.expm1(x[0]);
}

// dx = dy (y + 1): the output is read, not the input.
SmallVector<Value> Expm1Op::buildVjp(ImplicitLocOpBuilder &b,
                                     ValueRange grads) {
  return {b.create<MulOp>(grads[0], b.create<AddOp>(getY(), scalar(b, 1)))};
}

} // namespace halftone::graph
