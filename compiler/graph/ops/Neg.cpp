// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult NegOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](auto x) { return wrappingNeg(x); });
}

Value NegOp::emitScalar(ScalarBuilder &b, ValueRange x) { return b.neg(x[0]); }

SmallVector<Value> NegOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  return {b.create<NegOp>(grads[0])};
}

} // namespace halftone::graph
