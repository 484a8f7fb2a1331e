// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult FlattenOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t rank = input.getRank(), axis = adaptor.getAxis();
  if (axis < -rank || axis > rank)
    return emitOptionalError(location, "axis ", axis, " lies outside [", -rank,
                             ", ", rank, "]");
  ArrayRef<int64_t> rows =
      input.getShape().take_front(axis < 0 ? axis + rank : axis);
  int64_t count = numElements(rows),
          columns = numElements(input.getShape().drop_front(rows.size()));
  types.push_back(
      RankedTensorType::get({count, columns}, input.getElementType()));
  return success();
}

LogicalResult FlattenOp::evaluate(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  return evaluateReshape(*this, operands[0], results);
}

SmallVector<Value> FlattenOp::decompose(ImplicitLocOpBuilder &b) {
  return {reshapeTo(b, getInput(), shapeOf(getResult()))};
}

SmallVector<Value> FlattenOp::buildVjp(ImplicitLocOpBuilder &b,
                                       ValueRange grads) {
  return {reshapeTo(b, grads[0], shapeOf(getInput()))};
}

LogicalResult FlattenOp::canonicalize(FlattenOp op, PatternRewriter &rewriter) {
  replaceByReshape(op, rewriter);
  return success();
}

} // namespace halftone::graph
