// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult GatherElementsGradOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (shapeOf(adaptor.getIndices()) != shapeOf(adaptor.getDy()) ||
      failed(normalizeAxis(adaptor.getAxis(),
                           static_cast<int64_t>(adaptor.getShape().size()))) ||
      rankOf(adaptor.getDy()) !=
          static_cast<int64_t>(adaptor.getShape().size()))
    return emitOptionalError(location, "indices ",
                             adaptor.getIndices().getType(), ", gradient ",
                             adaptor.getDy().getType(), " and shape [",
                             adaptor.getShape(), "] do not fit together");
  types.push_back(RankedTensorType::get(adaptor.getShape(),
                                        elementTypeOf(adaptor.getDy())));
  return success();
}

LogicalResult
GatherElementsGradOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(*this);
  int64_t axis = *normalizeAxis(getAxis(), out.getRank()),
          extent = out.getShape()[axis];
  SmallVector<int64_t> strides = rowMajorStrides(out.getShape()),
                       index(out.getRank(), 0);
  for (int64_t i = 0; i < operands[0].size(); ++i) {
    std::optional<int64_t> place = axisIndex(operands[0].ints[i], extent);
    if (!place)
      return emitOpError("index ")
             << operands[0].ints[i] << " lies outside the extent " << extent
             << " of axis " << axis;
    int64_t to = *place * strides[axis];
    for (auto [d, stride] : llvm::enumerate(strides))
      to += static_cast<int64_t>(d) == axis ? 0 : index[d] * stride;
    out.floats[to] += operands[1].floats[i];
    nextIndex(index, operands[0].getShape());
  }
  results.push_back(std::move(out));
  return success();
}

bool GatherElementsGradOp::isIndexMap() { return false; }

// Each element looks through its whole line of indices, in order: no atomics.
Value GatherElementsGradOp::emitElement(ElementBuilder &b, unsigned,
                                        ValueRange index) {
  ArrayRef<int64_t> shape = shapeOf(getIndices());
  int64_t axis = *normalizeAxis(getAxis(), static_cast<int64_t>(shape.size()));
  Value zero = b.constant(0),
        outside = b.constantInt(-1, elementTypeOf(getIndices()));
  Value covered = b.constantInt(1, b.b.getI1Type());
  for (auto [d, extent] : llvm::enumerate(shape))
    if (static_cast<int64_t>(d) != axis && extent != getShape()[d])
      covered = b.andi(
          covered, b.compare(Compare::Less, index[d], b.constantIndex(extent)));
  return b.loop({shape[axis]}, zero, [&](ValueRange j, Value sum) {
    SmallVector<Value> source(index);
    source[axis] = j[0];
    Value place = emitAxisIndex(b, b.loadIf(covered, 0, source, outside),
                                getShape()[axis]);
    Value hit = b.andi(covered, b.compare(Compare::Equal, place, index[axis]));
    return b.add(sum, b.loadIf(hit, 1, source, zero));
  });
}

} // namespace halftone::graph
