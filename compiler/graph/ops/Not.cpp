// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult NotOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateElementwise<1>(*this, operands, results,
                                [](auto x) { return x == 0; });
}

Value NotOp::emitScalar(ScalarBuilder &b, ValueRange x) { return b.noti(x[0]); }

} // namespace halftone::graph
