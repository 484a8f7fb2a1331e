// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getData().getType());
  auto ranges =
      sliceRanges(input.getShape(), adaptor.getStarts(), adaptor.getEnds(),
                  adaptor.getAxes(), adaptor.getSteps());
  if (failed(ranges))
    return emitOptionalError(
        location,
        "starts, ends, axes and steps do not fit together or the operand ",
        input);
  SmallVector<int64_t> shape;
  for (const SliceRange &range : *ranges)
    shape.push_back(range.count);
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult SliceOp::evaluate(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  SmallVector<SliceRange> ranges = *sliceRanges(
      shapeOf(getData()), getStarts(), getEnds(), getAxes(), getSteps());
  SmallVector<int64_t> strides = rowMajorStrides(shapeOf(getData()));
  return evaluateMove(
      *this, operands[0], results, [&](ArrayRef<int64_t> index) {
        int64_t from = 0;
        for (auto [i, range, stride] : llvm::zip_equal(index, ranges, strides))
          from += (range.start + i * range.step) * stride;
        return from;
      });
}

Value SliceOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  SmallVector<SliceRange> ranges = *sliceRanges(
      shapeOf(getData()), getStarts(), getEnds(), getAxes(), getSteps());
  SmallVector<Value> source(index);
  for (auto [i, range] : llvm::zip_equal(source, ranges)) {
    if (range.step != 1)
      i = b.mul(i, b.constantIndex(range.step));
    if (range.start)
      i = b.add(i, b.constantIndex(range.start));
  }
  return b.load(0, source);
}

SmallVector<Value> SliceOp::buildVjp(ImplicitLocOpBuilder &b,
                                     ValueRange grads) {
  ArrayRef<int64_t> shape = shapeOf(getData());
  SmallVector<SliceRange> ranges =
      *sliceRanges(shape, getStarts(), getEnds(), getAxes(), getSteps());
  if (llvm::any_of(ranges,
                   [](const SliceRange &range) { return range.step != 1; }))
    return {b.create<SliceGradOp>(grads[0], shape, getStarts(), getEnds(),
                                  getAxesAttr(), getStepsAttr())};
  SmallVector<int64_t> before, behind;
  for (auto [range, extent] : llvm::zip_equal(ranges, shape)) {
    before.push_back(range.start);
    behind.push_back(extent - range.start - range.count);
  }
  before.append(behind);
  return {b.create<PadOp>(grads[0], before)};
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool backwards = getSteps() && llvm::any_of(*getSteps(), [](int64_t step) {
                     return step < 0;
                   });
  return !backwards && getData().getType() == getType()
             ? OpFoldResult(getData())
             : OpFoldResult();
}

} // namespace halftone::graph
