// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult IsInfOp::evaluate(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  bool negative = getDetectNegative(), positive = getDetectPositive();
  return evaluateElementwise<1>(*this, operands, results, [&](double x) {
    return std::isinf(x) && (x < 0 ? negative : positive);
  });
}

Value IsInfOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  double inf = std::numeric_limits<double>::infinity();
  Value hit = b.constantInt(0, b.b.getI1Type());
  if (getDetectNegative())
    hit = b.ori(hit, b.compare(Compare::Equal, x[0], b.constant(-inf)));
  if (getDetectPositive())
    hit = b.ori(hit, b.compare(Compare::Equal, x[0], b.constant(inf)));
  return hit;
}

} // namespace halftone::graph
