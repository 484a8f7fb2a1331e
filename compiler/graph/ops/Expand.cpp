// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ExpandOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  auto shape = broadcastShapes(input.getShape(), adaptor.getShape());
  if (failed(shape))
    return emitOptionalError(location, "cannot expand ", input, " to [",
                             adaptor.getShape(), "]");
  types.push_back(RankedTensorType::get(*shape, input.getElementType()));
  return success();
}

LogicalResult ExpandOp::evaluate(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  return evaluateMove(*this, operands[0], results,
                      [&](ArrayRef<int64_t> index) {
                        return broadcastOffset(index, operands[0].getShape());
                      });
}

Value ExpandOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  return b.load(0, b.broadcastIndex(index, shapeOf(getInput())));
}

// The gradient has the result's shape; the driver sums it down.
SmallVector<Value> ExpandOp::buildVjp(ImplicitLocOpBuilder &,
                                      ValueRange grads) {
  return {grads[0]};
}

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput())
                                           : OpFoldResult();
}

} // namespace halftone::graph
