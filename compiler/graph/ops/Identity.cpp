// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult IdentityOp::evaluate(ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](auto x) { return x; });
}

Value IdentityOp::emitScalar(ScalarBuilder &, ValueRange x) { return x[0]; }

SmallVector<Value> IdentityOp::buildVjp(ImplicitLocOpBuilder &,
                                        ValueRange grads) {
  return {grads[0]};
}

OpFoldResult IdentityOp::fold(FoldAdaptor) { return getX(); }

} // namespace halftone::graph
