// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Movement.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult evaluateReshape(Operation *op, const HostTensor &operand,
                              SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(op);
  out.floats = operand.floats;
  out.ints = operand.ints;
  results.push_back(std::move(out));
  return success();
}

Value reshapeTo(ImplicitLocOpBuilder &b, Value v, ArrayRef<int64_t> shape) {
  if (shapeOf(v) == shape)
    return v;
  return b.create<ReshapeOp>(v, shape);
}

void replaceByReshape(Operation *op, PatternRewriter &rewriter) {
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  Value data = op->getOperand(0);
  Value reshaped = reshapeTo(b, data, shapeOf(op->getResult(0)));
  if (reshaped != data)
    reshaped.getDefiningOp()->setDiscardableAttrs(
        op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, reshaped);
}

Value emitNumber(ScalarBuilder &b, Type elementType, double value) {
  if (isa<FloatType>(elementType))
    return b.constant(value);
  // Unsigned bytes are i32 in registers.
  Type scalar =
      elementType.isUnsignedInteger() ? b.b.getI32Type() : elementType;
  return b.constantInt(static_cast<int64_t>(value), scalar);
}

Value emitZero(ScalarBuilder &b, Type elementType) {
  return emitNumber(b, elementType, 0);
}

Value emitAxisIndex(ScalarBuilder &b, Value number, int64_t extent) {
  Value wide = b.convert(number, b.b.getI64Type());
  Value zero = b.constantLike(wide, 0);
  Value fromEnd = b.add(wide, b.constantInt(extent, wide.getType()));
  Value i = b.select(b.compare(Compare::Less, wide, zero), fromEnd, wide);
  i = b.minimum(i, b.constantInt(extent - 1, wide.getType()));
  return b.toIndex(b.maximum(i, zero));
}

std::optional<int64_t> axisIndex(int64_t number, int64_t extent) {
  if (number < -extent || number >= extent)
    return std::nullopt;
  return number < 0 ? number + extent : number;
}

LogicalResult checkAxisIndices(Operation *op, ArrayRef<int64_t> numbers,
                               int64_t axis, int64_t extent) {
  for (int64_t number : numbers)
    if (!axisIndex(number, extent))
      return op->emitOpError("index ") << number << " lies outside the extent "
                                       << extent << " of axis " << axis;
  return success();
}

/// One axis, by ONNX's clamping rules.
static SliceRange sliceRange(int64_t extent, int64_t start, int64_t end,
                             int64_t step) {
  auto place = [&](int64_t i, int64_t low, int64_t high) {
    return std::clamp(i < 0 ? i + extent : i, low, high);
  };
  if (step > 0) {
    start = place(start, 0, extent);
    end = place(end, 0, extent);
    int64_t span = std::max<int64_t>(0, end - start);
    return {start, step, span / step + (span % step != 0)};
  }
  start = place(start, 0, extent - 1);
  end = place(end, -1, extent - 1);
  int64_t span = std::max<int64_t>(0, start - end);
  // -INT64_MIN does not exist: such a step takes one element.
  step = std::max(step, -std::numeric_limits<int64_t>::max());
  return {start, step, span / -step + (span % -step != 0)};
}

FailureOr<SmallVector<SliceRange>>
sliceRanges(ArrayRef<int64_t> shape, ArrayRef<int64_t> starts,
            ArrayRef<int64_t> ends, std::optional<ArrayRef<int64_t>> axes,
            std::optional<ArrayRef<int64_t>> steps) {
  auto rank = static_cast<int64_t>(shape.size());
  if (ends.size() != starts.size() || (axes && axes->size() != starts.size()) ||
      (steps && steps->size() != starts.size()) ||
      static_cast<int64_t>(starts.size()) > rank)
    return failure();
  SmallVector<SliceRange> ranges;
  for (int64_t extent : shape)
    ranges.push_back({0, 1, extent});
  SmallVector<bool> seen(rank, false);
  for (size_t k = 0; k < starts.size(); ++k) {
    auto axis =
        normalizeAxis(axes ? (*axes)[k] : static_cast<int64_t>(k), rank);
    int64_t step = steps ? (*steps)[k] : 1;
    if (failed(axis) || step == 0 || seen[*axis])
      return failure();
    seen[*axis] = true;
    ranges[*axis] = sliceRange(shape[*axis], starts[k], ends[k], step);
  }
  return ranges;
}

} // namespace halftone::graph
