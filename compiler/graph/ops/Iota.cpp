// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult IotaOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto rank = static_cast<int64_t>(adaptor.getShape().size());
  if (adaptor.getAxis() < 0 || adaptor.getAxis() >= rank)
    return emitOptionalError(location, "axis ", adaptor.getAxis(),
                             " lies outside rank ", rank);
  types.push_back(
      RankedTensorType::get(adaptor.getShape(), IntegerType::get(context, 64)));
  return success();
}

LogicalResult IotaOp::evaluate(ArrayRef<HostTensor>,
                               SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(*this);
  SmallVector<int64_t> index(out.getRank(), 0);
  for (int64_t i = 0; i < out.size(); ++i) {
    out.ints[i] = index[getAxis()];
    nextIndex(index, out.getShape());
  }
  results.push_back(std::move(out));
  return success();
}

Value IotaOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  return b.convert(index[getAxis()], b.b.getI64Type());
}

} // namespace halftone::graph
