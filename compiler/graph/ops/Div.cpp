// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult DivOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  if (!operands[1].isFloat() && llvm::is_contained(operands[1].ints, 0))
    return emitOpError("divides an integer by zero");
  return evaluateElementwise<2>(*this, operands, results, [](auto a, auto b) {
    // The lowest integer over -1 traps.
    if constexpr (std::is_integral_v<decltype(a)>)
      if (b == -1)
        return wrappingNeg(a);
    return a / b;
  });
}

Value DivOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.div(x[0], x[1]);
}

// da = dy / b and db = -da y: the result is read instead of a.
SmallVector<Value> DivOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  Value da = b.create<DivOp>(grads[0], getB());
  return {da, b.create<NegOp>(b.create<MulOp>(da, getC()))};
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (splatValue(adaptor.getB()) == 1.0 && getA().getType() == getType())
    return getA();
  return {};
}

} // namespace halftone::graph
