// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult GreaterOp::evaluate(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<2>(*this, operands, results,
                                [](auto a, auto b) { return a > b; });
}

Value GreaterOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.compare(Compare::Greater, x[0], x[1]);
}

} // namespace halftone::graph
