// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult HardSwishOp::evaluate(ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results, [](double x) {
    return x * std::max(0.0, std::min(1.0, x / 6 + 0.5));
  });
}

Value HardSwishOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value gate = b.add(b.mul(x[0], b.constant(1.0 / 6)), b.constant(0.5));
  return b.mul(x[0], b.maximum(b.constant(0), b.minimum(b.constant(1), gate)));
}

// The slope is 0 up to -3, 1 from 3 on, and x/3 + 1/2 between.
SmallVector<Value> HardSwishOp::buildVjp(ImplicitLocOpBuilder &b,
                                         ValueRange grads) {
  Value x = getX(), dy = grads[0];
  Value middle = b.create<MulOp>(dy, plus(b, times(b, x, 1.0 / 3), 0.5));
  Value rising = keepWhere(b, isGreater(b, x, -3), middle);
  return {b.create<WhereOp>(isLess(b, x, 3), rising, dy)};
}

} // namespace halftone::graph
