// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult UnsqueezeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getData().getType());
  if (adaptor.getAxes().empty()) {
    types.push_back(input);
    return success();
  }
  int64_t rank =
      input.getRank() + static_cast<int64_t>(adaptor.getAxes().size());
  auto axes = normalizeAxes(adaptor.getAxes(), rank);
  if (failed(axes))
    return emitOptionalError(location, "axes [", adaptor.getAxes(),
                             "] repeat or lie outside rank ", rank);
  SmallVector<int64_t> shape(input.getShape());
  for (int64_t axis : *axes)
    shape.insert(shape.begin() + axis, 1);
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult UnsqueezeOp::evaluate(ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  return evaluateReshape(*this, operands[0], results);
}

SmallVector<Value> UnsqueezeOp::decompose(ImplicitLocOpBuilder &b) {
  return {reshapeTo(b, getData(), shapeOf(getResult()))};
}

SmallVector<Value> UnsqueezeOp::buildVjp(ImplicitLocOpBuilder &b,
                                         ValueRange grads) {
  return {reshapeTo(b, grads[0], shapeOf(getData()))};
}

LogicalResult UnsqueezeOp::canonicalize(UnsqueezeOp op,
                                        PatternRewriter &rewriter) {
  replaceByReshape(op, rewriter);
  return success();
}

} // namespace halftone::graph
