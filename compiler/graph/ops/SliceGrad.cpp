// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SliceGradOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto ranges =
      sliceRanges(adaptor.getShape(), adaptor.getStarts(), adaptor.getEnds(),
                  adaptor.getAxes(), adaptor.getSteps());
  SmallVector<int64_t> sliced;
  if (succeeded(ranges))
    for (const SliceRange &range : *ranges)
      sliced.push_back(range.count);
  if (failed(ranges) || ArrayRef<int64_t>(sliced) != shapeOf(adaptor.getDy()))
    return emitOptionalError(location, "is no slice of [", adaptor.getShape(),
                             "]: ", adaptor.getDy().getType());
  types.push_back(RankedTensorType::get(adaptor.getShape(),
                                        elementTypeOf(adaptor.getDy())));
  return success();
}

LogicalResult SliceGradOp::evaluate(ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  SmallVector<SliceRange> ranges =
      *sliceRanges(getShape(), getStarts(), getEnds(), getAxes(), getSteps());
  SmallVector<int64_t> strides = rowMajorStrides(operands[0].getShape());
  return evaluateMove(
      *this, operands[0], results, [&](ArrayRef<int64_t> index) -> int64_t {
        int64_t from = 0;
        for (auto [i, range, stride] :
             llvm::zip_equal(index, ranges, strides)) {
          int64_t distance = range.step > 0 ? i - range.start : range.start - i,
                  step = std::abs(range.step);
          if (distance < 0 || distance % step || distance / step >= range.count)
            return -1;
          from += distance / step * stride;
        }
        return from;
      });
}

Value SliceGradOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  SmallVector<SliceRange> ranges =
      *sliceRanges(getShape(), getStarts(), getEnds(), getAxes(), getSteps());
  SmallVector<Value> source(index);
  Value inside = b.constantInt(1, b.b.getI1Type());
  for (auto [i, range, extent] : llvm::zip_equal(source, ranges, getShape())) {
    if (range.step == 1 && range.count == extent)
      continue;
    // Unsigned: a place before the start wraps around to something large.
    Value start = b.constantIndex(range.start),
          step = b.constantIndex(std::abs(range.step));
    Value distance = range.step > 0 ? b.sub(i, start) : b.sub(start, i);
    i = b.div(distance, step);
    inside = b.andi(inside,
                    b.compare(Compare::Less, i, b.constantIndex(range.count)));
    inside = b.andi(inside, b.compare(Compare::Equal, b.rem(distance, step),
                                      b.constantIndex(0)));
  }
  return b.loadIf(inside, 0, source, b.constant(0));
}

} // namespace halftone::graph
