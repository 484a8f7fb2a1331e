// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(location, "needs at least one operand");
  auto first = cast<RankedTensorType>(adaptor.getInputs()[0].getType());
  auto axis = normalizeAxis(adaptor.getAxis(), first.getRank());
  if (failed(axis))
    return emitOptionalError(location, "axis ", adaptor.getAxis(),
                             " lies outside rank ", first.getRank());
  SmallVector<int64_t> shape(first.getShape());
  for (Value next : adaptor.getInputs().drop_front()) {
    SmallVector<int64_t> other(shapeOf(next));
    if (static_cast<int64_t>(other.size()) != first.getRank())
      return emitOptionalError(location,
                               "operands have different ranks: ", first,
                               " and ", next.getType());
    shape[*axis] += other[*axis];
    other[*axis] = shape[*axis];
    if (other != shape)
      return emitOptionalError(location, "operands differ in more than axis ",
                               *axis, ": ", first, " and ", next.getType());
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

LogicalResult ConcatOp::evaluate(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(*this);
  int64_t axis = *normalizeAxis(getAxis(), out.getRank()), begin = 0;
  SmallVector<int64_t> strides = rowMajorStrides(out.getShape());
  for (const HostTensor &part : operands) {
    SmallVector<int64_t> index(part.getRank(), 0);
    for (int64_t i = 0; i < part.size(); ++i) {
      int64_t to = begin * strides[axis];
      for (auto [d, stride] : llvm::enumerate(strides))
        to += index[d] * stride;
      if (out.isFloat())
        out.floats[to] = part.asDouble(i);
      else
        out.ints[to] = part.asInt(i);
      nextIndex(index, part.getShape());
    }
    begin += part.getShape()[axis];
  }
  results.push_back(std::move(out));
  return success();
}

Value ConcatOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  int64_t axis = *normalizeAxis(getAxis(), static_cast<int64_t>(index.size())),
          begin = 0;
  Value element = emitZero(b, elementTypeOf(getResult()));
  SmallVector<Value> source(index);
  for (auto [k, part] : llvm::enumerate(getInputs())) {
    int64_t extent = shapeOf(part)[axis];
    if (extent == 0)
      continue;
    // Unsigned: what lies before the part wraps around to something large.
    source[axis] = b.sub(index[axis], b.constantIndex(begin));
    Value inside =
        b.compare(Compare::Less, source[axis], b.constantIndex(extent));
    element = b.loadIf(inside, static_cast<unsigned>(k), source, element);
    begin += extent;
  }
  return element;
}

SmallVector<Value> ConcatOp::buildVjp(ImplicitLocOpBuilder &b,
                                      ValueRange grads) {
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getResult())), begin = 0;
  SmallVector<Value> parts;
  for (Value input : getInputs()) {
    int64_t end = begin + shapeOf(input)[axis];
    parts.push_back(b.create<SliceOp>(grads[0], axis, begin, end));
    begin = end;
  }
  return parts;
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs()[0])
                                 : OpFoldResult();
}

} // namespace halftone::graph
