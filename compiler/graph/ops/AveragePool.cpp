// SPDX-License-Identifier: Apache-2.0
// Average pooling and its gradient.
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/ops/Pool.h"

using namespace mlir;

namespace halftone::graph {
LogicalResult AveragePoolOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  Value x = adaptor.getX();
  auto shape = pooledShape(location, shapeOf(x), poolAttributes(adaptor));
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, elementTypeOf(x)));
  return success();
}

LogicalResult AveragePoolOp::evaluate(ArrayRef<HostTensor> operands,
                                      SmallVectorImpl<HostTensor> &results) {
  HostTensor y = resultTensor(*this);
  ArrayRef<int64_t> shape = shapeOf(getX());
  WindowGeometry window =
      *poolWindow(std::nullopt, shape, poolAttributes(*this));
  int64_t planeX = numElements(window.input),
          planeY = numElements(window.output);
  forEachWindow(window, shape[0] * shape[1],
                [&](int64_t plane, int64_t offset, ArrayRef<int64_t> output) {
                  double sum = 0;
                  forEachTap(window, output, [&](int64_t tap) {
                    sum += operands[0].floats[plane * planeX + tap];
                  });
                  y.floats[plane * planeY + offset] =
                      sum / static_cast<double>(tapCount(
                                window, output, getCountIncludePad() != 0));
                });
  results.push_back(std::move(y));
  return success();
}

Value AveragePoolOp::emitElement(ElementBuilder &b, unsigned,
                                 ValueRange index) {
  WindowGeometry window =
      *poolWindow(std::nullopt, shapeOf(getX()), poolAttributes(*this));
  ValueRange output = index.drop_front(2);
  Value zero = b.constant(0);
  Value sum = b.loop(window.kernel, zero, [&](ValueRange tap, Value sum) {
    TapPosition at = emitTap(b, window, output, tap);
    return b.add(sum,
                 b.loadIf(at.inside, 0, inputIndex(index, at.index), zero));
  });
  return b.div(sum, emitTapCount(b, window, output, getCountIncludePad() != 0));
}

bool AveragePoolOp::isIndexMap() { return false; }

SmallVector<Value> AveragePoolOp::buildVjp(ImplicitLocOpBuilder &b,
                                           ValueRange grads) {
  WindowGeometry window =
      *poolWindow(std::nullopt, shapeOf(getX()), poolAttributes(*this));
  return {b.create<AveragePoolGradOp>(grads[0], shapeOf(getX()), window.kernel,
                                      window.strides, window.pads(),
                                      window.dilations, getCountIncludePad())};
}

LogicalResult AveragePoolGradOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (adaptor.getShape().size() != static_cast<size_t>(rankOf(adaptor.getDY())))
    return emitOptionalError(location, "shape [", adaptor.getShape(),
                             "] and dY ", adaptor.getDY().getType(),
                             " differ in rank");
  types.push_back(RankedTensorType::get(adaptor.getShape(),
                                        elementTypeOf(adaptor.getDY())));
  return success();
}

LogicalResult
AveragePoolGradOp::evaluate(ArrayRef<HostTensor> operands,
                            SmallVectorImpl<HostTensor> &results) {
  HostTensor dx = resultTensor(*this);
  WindowGeometry window = gradientWindow(*this, getDY());
  int64_t planeX = numElements(window.input),
          planeY = numElements(window.output);
  forEachWindow(window, getShape()[0] * getShape()[1],
                [&](int64_t plane, int64_t offset, ArrayRef<int64_t> output) {
                  auto count = static_cast<double>(
                      tapCount(window, output, getCountIncludePad() != 0));
                  double share =
                      operands[0].floats[plane * planeY + offset] / count;
                  forEachTap(window, output, [&](int64_t tap) {
                    dx.floats[plane * planeX + tap] += share;
                  });
                });
  results.push_back(std::move(dx));
  return success();
}

// Pull: tap k of the window at (p + pad - k dilation) / stride reads input
// position p, if that divides evenly and is a window. A negative numerator
// wraps to a number whose quotient is no window either.
Value AveragePoolGradOp::emitElement(ElementBuilder &b, unsigned,
                                     ValueRange index) {
  WindowGeometry window = gradientWindow(*this, getDY());
  Value zero = b.constant(0);
  return b.loop(window.kernel, zero, [&](ValueRange tap, Value sum) {
    SmallVector<Value> output;
    Value inside;
    for (size_t axis = 0; axis < window.rank(); ++axis) {
      Value start =
                b.add(index[axis + 2], b.constantIndex(window.padsBegin[axis])),
            stride = b.constantIndex(window.strides[axis]);
      start = b.sub(start,
                    b.mul(tap[axis], b.constantIndex(window.dilations[axis])));
      output.push_back(b.div(start, stride));
      Value fits = b.andi(
          b.compare(Compare::Equal, b.rem(start, stride), b.constantIndex(0)),
          b.compare(Compare::Less, output.back(),
                    b.constantIndex(window.output[axis])));
      inside = inside ? b.andi(inside, fits) : fits;
    }
    Value dy = b.loadIf(inside, 0, inputIndex(index, output), zero);
    Value share =
        b.div(dy, emitTapCount(b, window, output, getCountIncludePad() != 0));
    return b.add(sum, b.select(inside, share, zero));
  });
}

bool AveragePoolGradOp::isIndexMap() { return false; }

} // namespace halftone::graph
