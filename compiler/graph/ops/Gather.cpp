// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {
namespace {

struct EvenSteps {
  int64_t start, step;
};

/// The first number and the distance where ascending numbers are evenly
/// spaced; nullopt otherwise, and where one is out of range.
std::optional<EvenSteps> evenSteps(ArrayRef<int64_t> numbers, int64_t extent) {
  SmallVector<int64_t> places;
  for (int64_t number : numbers) {
    std::optional<int64_t> place = axisIndex(number, extent);
    if (!place)
      return std::nullopt;
    places.push_back(*place);
  }
  if (places.empty())
    return std::nullopt;
  int64_t step = places.size() > 1 ? places[1] - places[0] : 1;
  for (size_t i = 1; i < places.size(); ++i)
    if (step < 1 || places[i] - places[i - 1] != step)
      return std::nullopt;
  return EvenSteps{places[0], step};
}

} // namespace

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto data = cast<RankedTensorType>(adaptor.getData().getType());
  auto axis = normalizeAxis(adaptor.getAxis(), data.getRank());
  if (failed(axis))
    return emitOptionalError(location, "axis ", adaptor.getAxis(),
                             " lies outside rank ", data.getRank());
  SmallVector<int64_t> shape(data.getShape().take_front(*axis));
  llvm::append_range(shape, shapeOf(adaptor.getIndices()));
  llvm::append_range(shape, data.getShape().drop_front(*axis + 1));
  types.push_back(RankedTensorType::get(shape, data.getElementType()));
  return success();
}

LogicalResult GatherOp::evaluate(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getData())),
          extent = shapeOf(getData())[axis];
  if (failed(checkAxisIndices(*this, operands[1].ints, axis, extent)))
    return failure();
  int64_t rank = operands[1].getRank();
  return evaluateMove(
      *this, operands[0], results, [&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> source(index.take_front(axis));
        int64_t at =
            broadcastOffset(index.slice(axis, rank), operands[1].getShape());
        source.push_back(*axisIndex(operands[1].ints[at], extent));
        llvm::append_range(source, index.drop_front(axis + rank));
        return broadcastOffset(source, operands[0].getShape());
      });
}

Value GatherOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getData())),
          rank = rankOf(getIndices());
  Value number = b.load(1, index.slice(axis, rank));
  SmallVector<Value> source(index.take_front(axis));
  source.push_back(emitAxisIndex(b, number, shapeOf(getData())[axis]));
  llvm::append_range(source, index.drop_front(axis + rank));
  return b.load(0, source);
}

// The gathered axis is brought to the front, so that rows are added up:
// [outer, n, inner] becomes [n, outer * inner], and back with `extent` for n.
SmallVector<Value> GatherOp::buildVjp(ImplicitLocOpBuilder &b,
                                      ValueRange grads) {
  ArrayRef<int64_t> shape = shapeOf(getData());
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getData())),
          rows = shape[axis];
  int64_t n = numElements(shapeOf(getIndices())),
          outer = numElements(shape.take_front(axis));
  int64_t inner = numElements(shape.drop_front(axis + 1));
  auto swapped = b.getDenseI64ArrayAttr({1, 0, 2});
  Value dy = grads[0];
  if (outer != 1)
    dy = b.create<TransposeOp>(reshapeTo(b, dy, {outer, n, inner}), swapped);
  dy = reshapeTo(b, dy, {n, outer * inner});
  Value dx = b.create<GatherGradOp>(reshapeTo(b, getIndices(), {n}), dy, rows);
  if (outer != 1)
    dx = b.create<TransposeOp>(reshapeTo(b, dx, {rows, outer, inner}), swapped);
  return {reshapeTo(b, dx, shape), Value()};
}

LogicalResult GatherOp::canonicalize(GatherOp op, PatternRewriter &rewriter) {
  int64_t axis = *normalizeAxis(op.getAxis(), rankOf(op.getData()));
  std::optional<SmallVector<int64_t>> indices = constantInts(op.getIndices());
  std::optional<EvenSteps> steps =
      indices ? evenSteps(*indices, shapeOf(op.getData())[axis]) : std::nullopt;
  if (!steps)
    return failure();
  int64_t end = steps->start +
                static_cast<int64_t>(indices->size() - 1) * steps->step + 1;
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  Value taken = b.create<SliceOp>(
      op.getData(), ArrayRef<int64_t>(steps->start), ArrayRef<int64_t>(end),
      b.getDenseI64ArrayAttr(axis), b.getDenseI64ArrayAttr(steps->step));
  Value result = reshapeTo(b, taken, shapeOf(op));
  for (Value built : {taken, result})
    built.getDefiningOp()->setDiscardableAttrs(
        op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, result);
  return success();
}

} // namespace halftone::graph
