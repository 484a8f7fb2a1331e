// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult AddOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<2>(*this, operands, results, [](auto a, auto b) {
    return wrappingAdd(a, b);
  });
}

Value AddOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.add(x[0], x[1]);
}

SmallVector<Value> AddOp::buildVjp(ImplicitLocOpBuilder &, ValueRange grads) {
  return {grads[0], grads[0]};
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (splatValue(adaptor.getB()) == 0.0 && getA().getType() == getType())
    return getA();
  if (splatValue(adaptor.getA()) == 0.0 && getB().getType() == getType())
    return getB();
  return {};
}

} // namespace halftone::graph
