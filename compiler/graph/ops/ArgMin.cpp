// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/ArgReduce.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ArgMinOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferArgReduction(location, adaptor.getData(), adaptor.getAxis(),
                           adaptor.getKeepdims(), types);
}

LogicalResult ArgMinOp::evaluate(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  bool last = getSelectLastIndex();
  return evaluateArgReduction(
      *this, operands[0], getAxis(), results,
      [&](double x, double best) { return x < best || (last && x == best); });
}

bool ArgMinOp::isIndexMap() { return false; }

Value ArgMinOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  return emitArgReduction(b, getData(), getAxis(), getKeepdims(), index,
                          getSelectLastIndex() ? Compare::LessOrEqual
                                               : Compare::Less);
}

} // namespace halftone::graph
