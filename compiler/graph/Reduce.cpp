// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Reduce.h"
#include "compiler/graph/BroadcastShape.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

SmallVector<int64_t>
reducedAxes(Value data, std::optional<ArrayRef<int64_t>> axes, bool noop) {
  if (noop && (!axes || axes->empty()))
    return {};
  auto normal = normalizeAxes(axes.value_or(ArrayRef<int64_t>()), rankOf(data));
  return succeeded(normal) ? *normal : SmallVector<int64_t>();
}

LogicalResult inferReduction(std::optional<Location> location, Value data,
                             std::optional<ArrayRef<int64_t>> axes,
                             bool keepdims, bool noop,
                             SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(data.getType());
  if (axes && failed(normalizeAxes(*axes, input.getRank())))
    return emitOptionalError(location, "axes [", *axes,
                             "] repeat or lie outside rank ", input.getRank());
  SmallVector<int64_t> reduced = reducedAxes(data, axes, noop), shape;
  for (int64_t d = 0; d < input.getRank(); ++d) {
    if (!llvm::is_contained(reduced, d))
      shape.push_back(input.getDimSize(d));
    else if (keepdims)
      shape.push_back(1);
  }
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

Value keepReducedAxes(ImplicitLocOpBuilder &b, Value reduced, Value data,
                      ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape(shapeOf(data));
  for (int64_t axis : axes)
    shape[axis] = 1;
  if (shapeOf(reduced) == ArrayRef<int64_t>(shape))
    return reduced;
  return b.create<ReshapeOp>(reduced, shape);
}

} // namespace halftone::graph
