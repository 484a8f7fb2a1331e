// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SignOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results, [](auto x) {
    return x > 0 ? decltype(x)(1) : x < 0 ? decltype(x)(-1) : x;
  });
}

// Zeros and NaN pass through both selections.
Value SignOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value zero = b.constantLike(x[0], 0);
  Value negative = b.select(b.compare(Compare::Less, x[0], zero),
                            b.constantLike(x[0], -1), x[0]);
  return b.select(b.compare(Compare::Greater, x[0], zero),
                  b.constantLike(x[0], 1), negative);
}

} // namespace halftone::graph
