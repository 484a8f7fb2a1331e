// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult WhereOp::evaluate(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<3>(
      *this, operands, results,
      [](auto condition, auto x, auto y) { return condition != 0 ? x : y; });
}

Value WhereOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.select(x[0], x[1], x[2]);
}

SmallVector<Value> WhereOp::buildVjp(ImplicitLocOpBuilder &b,
                                     ValueRange grads) {
  Value dy = grads[0], zero = scalarLike(b, dy, 0);
  return {Value(), b.create<WhereOp>(getCondition(), dy, zero),
          b.create<WhereOp>(getCondition(), zero, dy)};
}

} // namespace halftone::graph
