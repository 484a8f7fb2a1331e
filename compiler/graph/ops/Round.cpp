// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult RoundOp::evaluate(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](double x) { return std::nearbyint(x); });
}

Value RoundOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  return b.roundEven(x[0]);
}

} // namespace halftone::graph
