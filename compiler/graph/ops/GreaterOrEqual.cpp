// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult GreaterOrEqualOp::evaluate(ArrayRef<HostTensor> operands,
                                         SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<2>(*this, operands, results,
                                [](auto a, auto b) { return a >= b; });
}

Value GreaterOrEqualOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.compare(Compare::GreaterOrEqual, x[0], x[1]);
}

} // namespace halftone::graph
