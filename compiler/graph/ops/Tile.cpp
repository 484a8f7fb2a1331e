// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult TileOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  ArrayRef<int64_t> repeats = adaptor.getRepeats();
  if (static_cast<int64_t>(repeats.size()) != input.getRank() ||
      llvm::any_of(repeats, [](int64_t r) { return r < 0; }))
    return emitOptionalError(location, "repeats [", repeats, "] must be ",
                             input.getRank(), " numbers, none negative");
  SmallVector<int64_t> shape;
  for (auto [extent, repeat] : llvm::zip_equal(input.getShape(), repeats))
    if (llvm::MulOverflow(extent, repeat, shape.emplace_back()))
      return emitOptionalError(location, "repeats [", repeats, "] of ", input,
                               " make an axis too long to be counted");
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult TileOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  SmallVector<int64_t> source(operands[0].getRank());
  return evaluateMove(
      *this, operands[0], results, [&](ArrayRef<int64_t> index) {
        for (auto [d, extent] : llvm::enumerate(operands[0].getShape()))
          source[d] = index[d] % extent;
        return broadcastOffset(source, operands[0].getShape());
      });
}

Value TileOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  SmallVector<Value> source(index);
  for (auto [i, extent, repeat] :
       llvm::zip_equal(source, shapeOf(getInput()), getRepeats()))
    if (repeat != 1)
      i = b.rem(i, b.constantIndex(extent));
  return b.load(0, source);
}

// With each axis split into (repeat, extent), the repeats are summed.
SmallVector<Value> TileOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  SmallVector<int64_t> split, axes;
  for (auto [extent, repeat] :
       llvm::zip_equal(shapeOf(getInput()), getRepeats())) {
    axes.push_back(static_cast<int64_t>(split.size()));
    split.append({repeat, extent});
  }
  if (axes.empty())
    return {grads[0]};
  Value sum = b.create<ReduceSumOp>(reshapeTo(b, grads[0], split), axes);
  return {reshapeTo(b, sum, shapeOf(getInput()))};
}

} // namespace halftone::graph
