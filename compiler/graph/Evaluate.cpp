// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"

using namespace mlir;

namespace halftone::graph {

HostTensor resultTensor(Operation *op, unsigned i) {
  return HostTensor(cast<RankedTensorType>(op->getResult(i).getType()));
}

LogicalResult evaluateMove(Operation *op, const HostTensor &operand,
                           SmallVectorImpl<HostTensor> &results,
                           function_ref<int64_t(ArrayRef<int64_t>)> source,
                           double fill) {
  HostTensor out = resultTensor(op);
  SmallVector<int64_t> index(out.getRank(), 0);
  for (int64_t i = 0, n = out.size(); i < n; ++i) {
    int64_t from = source(index);
    if (from < 0)
      out.set(i, fill);
    else if (out.isFloat())
      out.floats[i] = operand.asDouble(from);
    else
      out.ints[i] = operand.asInt(from);
    nextIndex(index, out.getShape());
  }
  results.push_back(std::move(out));
  return success();
}

} // namespace halftone::graph
