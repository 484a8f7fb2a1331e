// SPDX-License-Identifier: Apache-2.0
// Max pooling and its gradient.
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/ops/Pool.h"
#include <cmath>

using namespace mlir;

namespace halftone::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// With `storage_order` 1 the index counts the last two axes column by column.
SmallVector<int64_t> storageShape(ArrayRef<int64_t> shape, bool columnMajor) {
  SmallVector<int64_t> result(shape);
  if (columnMajor && shape.size() > 3)
    std::swap(result[result.size() - 1], result[result.size() - 2]);
  return result;
}
template <typename T>
SmallVector<T> storageIndex(ArrayRef<T> index, bool columnMajor) {
  SmallVector<T> result(index);
  if (columnMajor && index.size() > 3)
    std::swap(result[result.size() - 1], result[result.size() - 2]);
  return result;
}

/// From a row-major offset in `shape` to the offset that ONNX asks for.
int64_t toStorage(int64_t offset, ArrayRef<int64_t> shape, bool columnMajor) {
  if (!columnMajor || shape.size() < 4)
    return offset;
  int64_t height = shape[shape.size() - 2], width = shape.back(),
          plane = height * width, at = offset % plane;
  return offset - at + at % width * height + at / width;
}

} // namespace

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  Value x = adaptor.getX();
  auto shape = pooledShape(location, shapeOf(x), poolAttributes(adaptor));
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, elementTypeOf(x)));
  types.push_back(RankedTensorType::get(*shape, IntegerType::get(context, 64)));
  return success();
}

LogicalResult MaxPoolOp::evaluate(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  HostTensor y = resultTensor(*this, 0), indices = resultTensor(*this, 1);
  ArrayRef<int64_t> shape = shapeOf(getX());
  WindowGeometry window =
      *poolWindow(std::nullopt, shape, poolAttributes(*this));
  int64_t planeX = numElements(window.input),
          planeY = numElements(window.output);
  forEachWindow(window, shape[0] * shape[1],
                [&](int64_t plane, int64_t offset, ArrayRef<int64_t> output) {
                  double best = -kInfinity;
                  int64_t at = -1;
                  forEachTap(window, output, [&](int64_t tap) {
                    double value = operands[0].floats[plane * planeX + tap];
                    if (at < 0 || value > best || std::isnan(value)) {
                      best = value;
                      at = plane * planeX + tap;
                    }
                  });
                  y.floats[plane * planeY + offset] = best;
                  indices.ints[plane * planeY + offset] =
                      at < 0 ? -1
                             : toStorage(at, shape, getStorageOrder() == 1);
                });
  results.push_back(std::move(y));
  results.push_back(std::move(indices));
  return success();
}

// The loop of the indices carries the offset of the best element so far and
// reads that element again: one carried value is enough.
Value MaxPoolOp::emitElement(ElementBuilder &b, unsigned result,
                             ValueRange index) {
  ArrayRef<int64_t> shape = shapeOf(getX());
  WindowGeometry window =
      *poolWindow(std::nullopt, shape, poolAttributes(*this));
  Value lowest = b.constant(-kInfinity);
  if (result == 0)
    return b.loop(window.kernel, lowest, [&](ValueRange tap, Value best) {
      TapPosition at = emitTap(b, window, index.drop_front(2), tap);
      return b.maximum(
          best, b.loadIf(at.inside, 0, inputIndex(index, at.index), lowest));
    });

  Value none = b.constantIndex(-1);
  Value best = b.loop(window.kernel, none, [&](ValueRange tap, Value best) {
    TapPosition at = emitTap(b, window, index.drop_front(2), tap);
    SmallVector<Value> source = inputIndex(index, at.index);
    Value isFirst = b.compare(Compare::Equal, best, none);
    Value value = b.loadIf(at.inside, 0, source, lowest);
    Value record =
        b.loadIf(b.noti(isFirst), 0, b.delinearize(best, shape), lowest);
    Value better =
        b.ori(isFirst, b.ori(b.compare(Compare::Greater, value, record),
                             b.isNaN(value)));
    return b.select(b.andi(at.inside, better), b.linearize(source, shape),
                    best);
  });
  Type wide = b.b.getI64Type();
  if (getStorageOrder() != 1 || shape.size() < 4)
    return b.convert(best, wide);
  SmallVector<Value> swapped =
      storageIndex<Value>(b.delinearize(best, shape), true);
  Value offset =
      b.convert(b.linearize(swapped, storageShape(shape, true)), wide);
  return b.select(b.compare(Compare::Equal, best, none),
                  b.constantInt(-1, wide), offset);
}

bool MaxPoolOp::isIndexMap() { return false; }

SmallVector<Value> MaxPoolOp::buildVjp(ImplicitLocOpBuilder &b,
                                       ValueRange grads) {
  if (!grads[0])
    return {Value()};
  WindowGeometry window =
      *poolWindow(std::nullopt, shapeOf(getX()), poolAttributes(*this));
  return {b.create<MaxPoolGradOp>(getIndices(), grads[0], shapeOf(getX()),
                                  window.kernel, window.strides, window.pads(),
                                  window.dilations, getStorageOrder())};
}

LogicalResult MaxPoolGradOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  if (shapeOf(adaptor.getIndices()) != shapeOf(adaptor.getDY()))
    return emitOptionalError(location, "indices ",
                             adaptor.getIndices().getType(), " and dY ",
                             adaptor.getDY().getType(), " differ in shape");
  types.push_back(RankedTensorType::get(adaptor.getShape(),
                                        elementTypeOf(adaptor.getDY())));
  return success();
}

LogicalResult MaxPoolGradOp::evaluate(ArrayRef<HostTensor> operands,
                                      SmallVectorImpl<HostTensor> &results) {
  HostTensor dx = resultTensor(*this);
  // Position of each storage offset in row-major order.
  std::vector<int64_t> position(dx.size());
  for (int64_t i = 0; i < dx.size(); ++i)
    position[toStorage(i, getShape(), getStorageOrder() == 1)] = i;
  for (int64_t i = 0; i < operands[1].size(); ++i) {
    int64_t at = operands[0].ints[i];
    if (at >= dx.size())
      return emitOpError("index ") << at << " lies outside the " << dx.size()
                                   << " elements of the result";
    if (at >= 0)
      dx.floats[position[at]] += operands[1].floats[i];
  }
  results.push_back(std::move(dx));
  return success();
}

// Pull: the windows that may hold input position p along an axis are (p + pad)
// / stride and the few before it; which of them chose the element its index
// tells, so that dilation needs no care. An output position before 0 wraps and
// fails the comparison.
Value MaxPoolGradOp::emitElement(ElementBuilder &b, unsigned,
                                 ValueRange index) {
  WindowGeometry window = gradientWindow(*this, getDY());
  SmallVector<int64_t> candidates;
  SmallVector<Value> last;
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    candidates.push_back((window.span(axis) - 1) / window.strides[axis] + 1);
    last.push_back(
        b.div(b.add(index[axis + 2], b.constantIndex(window.padsBegin[axis])),
              b.constantIndex(window.strides[axis])));
  }
  bool columnMajor = getStorageOrder() == 1;
  SmallVector<Value> own =
      storageIndex<Value>(llvm::to_vector(index), columnMajor);
  Value offset =
      b.convert(b.linearize(own, storageShape(getShape(), columnMajor)),
                elementTypeOf(getIndices()));
  Value zero = b.constant(0), none = b.constantInt(-1, offset.getType());
  return b.loop(candidates, zero, [&](ValueRange back, Value sum) {
    SmallVector<Value> output;
    Value inside;
    for (size_t axis = 0; axis < window.rank(); ++axis) {
      output.push_back(b.sub(last[axis], back[axis]));
      Value fits = b.compare(Compare::Less, output.back(),
                             b.constantIndex(window.output[axis]));
      inside = inside ? b.andi(inside, fits) : fits;
    }
    SmallVector<Value> source = inputIndex(index, output);
    Value chosen =
        b.compare(Compare::Equal, b.loadIf(inside, 0, source, none), offset);
    return b.add(sum, b.loadIf(b.andi(inside, chosen), 1, source, zero));
  });
}

bool MaxPoolGradOp::isIndexMap() { return false; }

} // namespace halftone::graph
