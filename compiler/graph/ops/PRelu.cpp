// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult PReluOp::evaluate(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<2>(
      *this, operands, results,
      [](double x, double slope) { return x > 0 ? x : slope * x; });
}

Value PReluOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.select(b.compare(Compare::Greater, x[0], b.constant(0)), x[0],
                  b.mul(x[0], x[1]));
}

SmallVector<Value> PReluOp::buildVjp(ImplicitLocOpBuilder &b,
                                     ValueRange grads) {
  Value dy = grads[0], zero = scalarLike(b, dy, 0);
  Value positive = isGreater(b, getX(), 0);
  return {b.create<WhereOp>(positive, dy, b.create<MulOp>(dy, getSlope())),
          b.create<WhereOp>(positive, zero, b.create<MulOp>(dy, getX()))};
}

} // namespace halftone::graph
