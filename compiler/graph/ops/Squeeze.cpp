// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SqueezeOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getData().getType());
  SmallVector<int64_t> axes, shape;
  if (adaptor.getAxes() && !adaptor.getAxes()->empty()) {
    auto normal = normalizeAxes(*adaptor.getAxes(), input.getRank());
    if (failed(normal))
      return emitOptionalError(location, "axes [", *adaptor.getAxes(),
                               "] repeat or lie outside rank ",
                               input.getRank());
    axes = *normal;
  } else if (!adaptor.getAxes()) {
    for (int64_t d = 0; d < input.getRank(); ++d)
      if (input.getDimSize(d) == 1)
        axes.push_back(d);
  }
  for (int64_t d = 0; d < input.getRank(); ++d) {
    if (!llvm::is_contained(axes, d))
      shape.push_back(input.getDimSize(d));
    else if (input.getDimSize(d) != 1)
      return emitOptionalError(location, "cannot remove axis ", d,
                               " of extent ", input.getDimSize(d));
  }
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult SqueezeOp::evaluate(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  return evaluateReshape(*this, operands[0], results);
}

SmallVector<Value> SqueezeOp::decompose(ImplicitLocOpBuilder &b) {
  return {reshapeTo(b, getData(), shapeOf(getResult()))};
}

SmallVector<Value> SqueezeOp::buildVjp(ImplicitLocOpBuilder &b,
                                       ValueRange grads) {
  return {reshapeTo(b, grads[0], shapeOf(getData()))};
}

LogicalResult SqueezeOp::canonicalize(SqueezeOp op, PatternRewriter &rewriter) {
  replaceByReshape(op, rewriter);
  return success();
}

} // namespace halftone::graph
