// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SubOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<2>(*this, operands, results, [](auto a, auto b) {
    return wrappingSub(a, b);
  });
}

Value SubOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.sub(x[0], x[1]);
}

SmallVector<Value> SubOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  return {grads[0], b.create<NegOp>(grads[0])};
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (splatValue(adaptor.getB()) == 0.0 && getA().getType() == getType())
    return getA();
  return {};
}

} // namespace halftone::graph
