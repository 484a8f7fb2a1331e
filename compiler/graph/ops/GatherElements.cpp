// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult GatherElementsOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto data = cast<RankedTensorType>(adaptor.getData().getType());
  ArrayRef<int64_t> shape = shapeOf(adaptor.getIndices());
  auto axis = normalizeAxis(adaptor.getAxis(), data.getRank());
  bool fits =
      succeeded(axis) && static_cast<int64_t>(shape.size()) == data.getRank();
  for (int64_t d = 0; fits && d < data.getRank(); ++d)
    fits = d == *axis || shape[d] <= data.getDimSize(d);
  if (!fits)
    return emitOptionalError(location, "axis ", adaptor.getAxis(),
                             " and indices ", adaptor.getIndices().getType(),
                             " do not fit the data ", data);
  types.push_back(RankedTensorType::get(shape, data.getElementType()));
  return success();
}

LogicalResult GatherElementsOp::evaluate(ArrayRef<HostTensor> operands,
                                         SmallVectorImpl<HostTensor> &results) {
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getData())),
          extent = shapeOf(getData())[axis];
  if (failed(checkAxisIndices(*this, operands[1].ints, axis, extent)))
    return failure();
  SmallVector<int64_t> dataStrides = rowMajorStrides(shapeOf(getData()));
  SmallVector<int64_t> strides = rowMajorStrides(shapeOf(getIndices()));
  return evaluateMove(
      *this, operands[0], results, [&](ArrayRef<int64_t> index) {
        int64_t at = 0, from = 0;
        for (auto [d, i] : llvm::enumerate(index)) {
          at += i * strides[d];
          from += i * (static_cast<int64_t>(d) == axis ? 0 : dataStrides[d]);
        }
        return from +
               *axisIndex(operands[1].ints[at], extent) * dataStrides[axis];
      });
}

Value GatherElementsOp::emitElement(ElementBuilder &b, unsigned,
                                    ValueRange index) {
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getData()));
  SmallVector<Value> source(index);
  source[axis] = emitAxisIndex(b, b.load(1, index), shapeOf(getData())[axis]);
  return b.load(0, source);
}

SmallVector<Value> GatherElementsOp::buildVjp(ImplicitLocOpBuilder &b,
                                              ValueRange grads) {
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getData()));
  return {b.create<GatherElementsGradOp>(getIndices(), grads[0], axis,
                                         shapeOf(getData())),
          Value()};
}

} // namespace halftone::graph
