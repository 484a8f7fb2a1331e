// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult AbsOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results, [](auto x) {
    return x < 0 ? wrappingNeg(x) : x;
  });
}

Value AbsOp::emitScalar(ScalarBuilder &b, ValueRange x) { return b.abs(x[0]); }

SmallVector<Value> AbsOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  return {b.create<MulOp>(grads[0], b.create<SignOp>(getX()))};
}

} // namespace halftone::graph
