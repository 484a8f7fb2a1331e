// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {
namespace {

struct AxisPad {
  int64_t before = 0, behind = 0;
};

/// One entry an axis of the operand; fails for lists that do not fit.
FailureOr<SmallVector<AxisPad>>
axisPads(int64_t rank, ArrayRef<int64_t> pads,
         std::optional<ArrayRef<int64_t>> axes) {
  size_t named = axes ? axes->size() : static_cast<size_t>(rank);
  if (pads.size() != 2 * named)
    return failure();
  SmallVector<AxisPad> result(rank);
  for (size_t k = 0; k < named; ++k) {
    auto axis =
        normalizeAxis(axes ? (*axes)[k] : static_cast<int64_t>(k), rank);
    if (failed(axis))
      return failure();
    result[*axis] = {pads[k], pads[k + named]};
  }
  return result;
}

} // namespace

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getData().getType());
  if (adaptor.getMode() != "constant")
    return emitOptionalError(location, "mode '", adaptor.getMode(),
                             "' is not supported, only constant");
  auto pads = axisPads(input.getRank(), adaptor.getPads(), adaptor.getAxes());
  if (failed(pads))
    return emitOptionalError(location, "pads [", adaptor.getPads(),
                             "] do not fit the axes of ", input);
  if (llvm::any_of(adaptor.getPads(),
                   [](int64_t pad) { return !llvm::isInt<32>(pad); }))
    return emitOptionalError(location, "pads [", adaptor.getPads(),
                             "] must all be below 2^31");
  SmallVector<int64_t> shape;
  for (auto [extent, pad] : llvm::zip_equal(input.getShape(), *pads))
    shape.push_back(extent + pad.before + pad.behind);
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 0; }))
    return emitOptionalError(location, "pads [", adaptor.getPads(),
                             "] remove more than there is of ", input);
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult PadOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  SmallVector<AxisPad> pads =
      *axisPads(rankOf(getData()), getPads(), getAxes());
  SmallVector<int64_t> strides = rowMajorStrides(shapeOf(getData()));
  auto source = [&](ArrayRef<int64_t> index) -> int64_t {
    int64_t from = 0;
    for (auto [i, pad, extent, stride] :
         llvm::zip_equal(index, pads, shapeOf(getData()), strides)) {
      if (i < pad.before || i - pad.before >= extent)
        return -1;
      from += (i - pad.before) * stride;
    }
    return from;
  };
  return evaluateMove(*this, operands[0], results, source,
                      numberOr(getConstantValueAttr(), 0));
}

Value PadOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  SmallVector<AxisPad> pads =
      *axisPads(rankOf(getData()), getPads(), getAxes());
  SmallVector<Value> source(index);
  Value inside;
  for (auto [i, pad, extent] :
       llvm::zip_equal(source, pads, shapeOf(getData()))) {
    if (pad.before)
      i = b.sub(i, b.constantIndex(pad.before));
    if (pad.before <= 0 && pad.behind <= 0)
      continue;
    // Unsigned: what lies before the axis wraps around to something large.
    Value within = b.compare(Compare::Less, i, b.constantIndex(extent));
    inside = inside ? b.andi(inside, within) : within;
  }
  if (!inside)
    return b.load(0, source);
  return b.loadIf(inside, 0, source,
                  emitNumber(b, elementTypeOf(getResult()),
                             numberOr(getConstantValueAttr(), 0)));
}

// The opposite pads: what was added is removed, what was removed gets 0.
SmallVector<Value> PadOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  SmallVector<int64_t> before, behind;
  auto pads = axisPads(rankOf(getData()), getPads(), getAxes());
  for (const AxisPad &pad : *pads) {
    before.push_back(-pad.before);
    behind.push_back(-pad.behind);
  }
  before.append(behind);
  return {b.create<PadOp>(grads[0], before)};
}

} // namespace halftone::graph
