// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ConstantOfShapeOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  std::optional<SmallVector<int64_t>> shape = constantInts(adaptor.getInput());
  if (!shape || llvm::any_of(*shape, [](int64_t extent) { return extent < 0; }))
    return emitOptionalError(
        location, "the shape must be a constant without negative numbers");
  std::optional<ElementsAttr> value = adaptor.getValue();
  if (value && !splatValue(*value))
    return emitOptionalError(location, "value must hold one number");
  Type element = value ? value->getElementType()
                       : Float32Type::get(adaptor.getInput().getContext());
  types.push_back(RankedTensorType::get(*shape, element));
  return success();
}

LogicalResult
ConstantOfShapeOp::evaluate(ArrayRef<HostTensor>,
                            SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(*this);
  std::optional<HostTensor> value =
      getValue() ? HostTensor::fromAttr(*getValue()) : std::nullopt;
  for (int64_t i = 0; value && i < out.size(); ++i) {
    if (out.isFloat())
      out.floats[i] = value->floats[0];
    else
      out.ints[i] = value->ints[0];
  }
  results.push_back(std::move(out));
  return success();
}

Value ConstantOfShapeOp::emitElement(ElementBuilder &b, unsigned, ValueRange) {
  double value = getValue() ? *splatValue(*getValue()) : 0;
  return emitNumber(b, elementTypeOf(getResult()), value);
}

OpFoldResult ConstantOfShapeOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  if (getValue())
    return cast<DenseElementsAttr>(*getValue()).resizeSplat(type);
  return splatAttr(type, 0);
}

} // namespace halftone::graph
