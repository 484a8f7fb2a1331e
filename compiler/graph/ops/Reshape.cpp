// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getData().getType());
  SmallVector<int64_t> shape(adaptor.getShape());
  int64_t inferred = -1;
  SmallVector<int64_t> others;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !adaptor.getAllowzero()) {
      if (d >= static_cast<size_t>(input.getRank()))
        return emitOptionalError(location, "shape entry ", d,
                                 " copies an extent that the input of rank ",
                                 input.getRank(), " lacks");
      shape[d] = input.getDimSize(d);
    }
    if (shape[d] == -1 && inferred < 0)
      inferred = static_cast<int64_t>(d);
    else if (shape[d] < 0)
      return emitOptionalError(location, "shape [", adaptor.getShape(),
                               "] has a negative extent other than one -1");
    else
      others.push_back(shape[d]);
  }
  int64_t known = numElements(others);
  if (inferred >= 0)
    shape[inferred] = known ? input.getNumElements() / known : 0;
  if (numElements(shape) != input.getNumElements())
    return emitOptionalError(location, "cannot reshape ",
                             input.getNumElements(), " elements (", input,
                             ") to [", shape, "]");
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult ReshapeOp::evaluate(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  return evaluateReshape(*this, operands[0], results);
}

Value ReshapeOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  Value offset = b.linearize(index, shapeOf(getReshaped()));
  return b.load(0, b.delinearize(offset, shapeOf(getData())));
}

SmallVector<Value> ReshapeOp::buildVjp(ImplicitLocOpBuilder &b,
                                       ValueRange grads) {
  return {b.create<ReshapeOp>(grads[0], shapeOf(getData()))};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return getData().getType() == getType() ? OpFoldResult(getData())
                                          : OpFoldResult();
}

LogicalResult ReshapeOp::canonicalize(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = op.getData().getDefiningOp<ReshapeOp>();
  if (!inner)
    return failure();
  DictionaryAttr attributes = op->getDiscardableAttrDictionary();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, inner.getData(), shapeOf(op))
      ->setDiscardableAttrs(attributes);
  return success();
}

} // namespace halftone::graph
