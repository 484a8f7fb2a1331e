// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult CastLikeOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get(
      shapeOf(adaptor.getInput()), elementTypeOf(adaptor.getTargetType())));
  return success();
}

LogicalResult CastLikeOp::evaluate(ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  OpBuilder b(getContext());
  OwningOpRef<CastOp> cast =
      b.create<CastOp>(getLoc(), getInput(), elementTypeOf(getTargetType()));
  return cast->evaluate(operands.take_front(), results);
}

SmallVector<Value> CastLikeOp::decompose(ImplicitLocOpBuilder &b) {
  return {b.createOrFold<CastOp>(getInput(), elementTypeOf(getTargetType()))};
}

SmallVector<Value> CastLikeOp::buildVjp(ImplicitLocOpBuilder &b,
                                        ValueRange grads) {
  if (!isa<FloatType>(elementTypeOf(getInput())) ||
      !isa<FloatType>(elementTypeOf(getOutput())))
    return {Value(), Value()};
  return {b.createOrFold<CastOp>(grads[0], elementTypeOf(getInput())), Value()};
}

LogicalResult CastLikeOp::canonicalize(CastLikeOp op,
                                       PatternRewriter &rewriter) {
  DictionaryAttr attributes = op->getDiscardableAttrDictionary();
  Type type = elementTypeOf(op.getTargetType());
  rewriter.replaceOpWithNewOp<CastOp>(op, op.getInput(), type)
      ->setDiscardableAttrs(attributes);
  return success();
}

} // namespace halftone::graph
