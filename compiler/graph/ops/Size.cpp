// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SizeOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get(
      {}, IntegerType::get(adaptor.getData().getContext(), 64)));
  return success();
}

LogicalResult SizeOp::evaluate(ArrayRef<HostTensor>,
                               SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(*this);
  out.ints[0] = numElements(shapeOf(getData()));
  results.push_back(std::move(out));
  return success();
}

Value SizeOp::emitElement(ElementBuilder &b, unsigned, ValueRange) {
  return b.constantInt(numElements(shapeOf(getData())), b.b.getI64Type());
}

OpFoldResult SizeOp::fold(FoldAdaptor) {
  return DenseIntElementsAttr::get(cast<ShapedType>(getType()),
                                   numElements(shapeOf(getData())));
}

} // namespace halftone::graph
