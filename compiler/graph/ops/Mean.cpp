// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"
#include "compiler/graph/VariadicElementwise.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult MeanOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  if (failed(evaluateVariadic(*this, operands, results,
                              [](auto a, auto b) { return a + b; })))
    return failure();
  auto count = static_cast<int64_t>(operands.size());
  for (double &sum : results.back().floats)
    sum /= static_cast<double>(count);
  for (int64_t &sum : results.back().ints)
    sum /= count;
  return success();
}

Value MeanOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value sum = x[0];
  for (Value next : x.drop_front())
    sum = b.add(sum, next);
  return b.div(sum, b.constantLike(sum, static_cast<double>(x.size())));
}

SmallVector<Value> MeanOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  Value share = times(b, grads[0], 1.0 / getNumOperands());
  return SmallVector<Value>(getNumOperands(), share);
}

} // namespace halftone::graph
