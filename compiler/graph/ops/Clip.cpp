// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ClipOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  double inf = std::numeric_limits<double>::infinity();
  double low = numberOr(getMinAttr(), -inf), high = numberOr(getMaxAttr(), inf);
  return evaluateElementwise<1>(*this, operands, results, [&](auto x) {
    if (static_cast<double>(x) < low)
      x = static_cast<decltype(x)>(low);
    return static_cast<double>(x) > high ? static_cast<decltype(x)>(high) : x;
  });
}

Value ClipOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value y = x[0];
  if (getMin())
    y = b.maximum(y, b.constantLike(y, numberOr(*getMin(), 0)));
  if (getMax())
    y = b.minimum(y, b.constantLike(y, numberOr(*getMax(), 0)));
  return y;
}

SmallVector<Value> ClipOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  Value outside;
  if (getMin())
    outside = isLess(b, getInput(), numberOr(*getMin(), 0));
  if (getMax()) {
    Value above = isGreater(b, getInput(), numberOr(*getMax(), 0));
    outside = outside ? b.create<OrOp>(outside, above).getResult() : above;
  }
  if (!outside)
    return {grads[0]};
  return {keepWhere(b, b.create<NotOp>(outside), grads[0])};
}

} // namespace halftone::graph
