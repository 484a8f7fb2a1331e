// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult GatherNDOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto data = cast<RankedTensorType>(adaptor.getData().getType());
  ArrayRef<int64_t> indices = shapeOf(adaptor.getIndices());
  int64_t batch = adaptor.getBatchDims(),
          tuple = indices.empty() ? 0 : indices.back();
  auto rank = static_cast<int64_t>(indices.size());
  if (batch < 0 || batch >= rank || tuple < 1 ||
      batch + tuple > data.getRank() ||
      indices.take_front(batch) != data.getShape().take_front(batch))
    return emitOptionalError(
        location, "indices ", adaptor.getIndices().getType(),
        " with batch_dims ", batch, " do not fit the data ", data);
  SmallVector<int64_t> shape(indices.drop_back());
  llvm::append_range(shape, data.getShape().drop_front(batch + tuple));
  types.push_back(RankedTensorType::get(shape, data.getElementType()));
  return success();
}

LogicalResult GatherNDOp::evaluate(ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  ArrayRef<int64_t> shape = shapeOf(getData()), tuples = shapeOf(getIndices());
  int64_t batch = getBatchDims(), tuple = tuples.back(),
          lead = static_cast<int64_t>(tuples.size()) - 1;
  for (int64_t i = 0; i < operands[1].size(); ++i)
    if (!axisIndex(operands[1].ints[i], shape[batch + i % tuple]))
      return emitOpError("index ")
             << operands[1].ints[i] << " lies outside axis "
             << batch + i % tuple << " of " << operands[0].getType();
  return evaluateMove(
      *this, operands[0], results, [&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> source(index.take_front(batch));
        int64_t at =
            broadcastOffset(index.take_front(lead), tuples.drop_back()) * tuple;
        for (int64_t k = 0; k < tuple; ++k)
          source.push_back(
              *axisIndex(operands[1].ints[at + k], shape[batch + k]));
        llvm::append_range(source, index.drop_front(lead));
        return broadcastOffset(source, shape);
      });
}

Value GatherNDOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  ArrayRef<int64_t> tuples = shapeOf(getIndices());
  int64_t batch = getBatchDims(),
          lead = static_cast<int64_t>(tuples.size()) - 1;
  SmallVector<Value> source(index.take_front(batch));
  for (int64_t k = 0; k < tuples.back(); ++k) {
    SmallVector<Value> at(index.take_front(lead));
    at.push_back(b.constantIndex(k));
    source.push_back(
        emitAxisIndex(b, b.load(1, at), shapeOf(getData())[batch + k]));
  }
  llvm::append_range(source, index.drop_front(lead));
  return b.load(0, source);
}

// Each tuple, with the place of its batch, is a row number of the data with
// its first axes collapsed.
SmallVector<Value> GatherNDOp::buildVjp(ImplicitLocOpBuilder &b,
                                        ValueRange grads) {
  ArrayRef<int64_t> shape = shapeOf(getData()), tuples = shapeOf(getIndices());
  int64_t batch = getBatchDims(), tuple = tuples.back();
  int64_t n = numElements(tuples.drop_back()),
          batches = numElements(tuples.take_front(batch));
  Value table = reshapeTo(b, getIndices(), {n, tuple});
  Value row = b.create<CastOp>(
      reshapeTo(b, b.create<IotaOp>(ArrayRef<int64_t>{batches, n / batches}, 0),
                {n}),
      elementTypeOf(table));
  for (int64_t k = 0; k < tuple; ++k) {
    Value place = reshapeTo(b, b.create<SliceOp>(table, 1, k, k + 1), {n});
    auto extent = static_cast<double>(shape[batch + k]);
    place =
        b.create<WhereOp>(isLess(b, place, 0), plus(b, place, extent), place);
    row = b.create<AddOp>(times(b, row, extent), place);
  }
  int64_t rows = numElements(shape.take_front(batch + tuple)),
          width = numElements(shape.drop_front(batch + tuple));
  Value dx =
      b.create<GatherGradOp>(row, reshapeTo(b, grads[0], {n, width}), rows);
  return {reshapeTo(b, dx, shape), Value()};
}

} // namespace halftone::graph
