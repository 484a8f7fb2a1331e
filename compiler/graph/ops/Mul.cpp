// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult MulOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<2>(*this, operands, results, [](auto a, auto b) {
    return wrappingMul(a, b);
  });
}

Value MulOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.mul(x[0], x[1]);
}

SmallVector<Value> MulOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  return {b.create<MulOp>(grads[0], getB()), b.create<MulOp>(grads[0], getA())};
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (splatValue(adaptor.getB()) == 1.0 && getA().getType() == getType())
    return getA();
  if (splatValue(adaptor.getA()) == 1.0 && getB().getType() == getType())
    return getB();
  return {};
}

} // namespace halftone::graph
