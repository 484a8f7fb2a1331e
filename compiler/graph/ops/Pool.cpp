// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/ops/Pool.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace halftone::graph {
namespace {

/// Taps that count along one axis.
int64_t tapCount(const WindowGeometry &w, size_t axis, int64_t output,
                 bool includePad) {
  int64_t first = includePad ? -w.padsBegin[axis] : 0,
          end = w.input[axis] + (includePad ? w.padsEnd[axis] : 0), count = 0;
  for (int64_t k = 0; k < w.kernel[axis]; ++k) {
    int64_t at =
        output * w.strides[axis] + k * w.dilations[axis] - w.padsBegin[axis];
    count += at >= first && at < end;
  }
  return count;
}

/// Spatial input position of a tap as a row-major offset; -1 outside.
int64_t tapOffset(const WindowGeometry &w, ArrayRef<int64_t> output,
                  ArrayRef<int64_t> tap) {
  int64_t offset = 0;
  for (size_t axis = 0; axis < w.rank(); ++axis) {
    int64_t at = output[axis] * w.strides[axis] +
                 tap[axis] * w.dilations[axis] - w.padsBegin[axis];
    if (at < 0 || at >= w.input[axis])
      return -1;
    offset = offset * w.input[axis] + at;
  }
  return offset;
}

} // namespace

FailureOr<WindowGeometry> poolWindow(std::optional<Location> location,
                                     ArrayRef<int64_t> x,
                                     const WindowAttributes &attributes) {
  if (x.size() < 3 || x.size() > 5)
    return emitOptionalError(
        location, "pooling needs 1 to 3 spatial axes, got rank ", x.size());
  auto window = windowGeometry(location, x.drop_front(2), attributes);
  if (failed(window))
    return failure();
  for (size_t axis = 0; axis < window->rank(); ++axis)
    if (std::max(window->padsBegin[axis], window->padsEnd[axis]) >=
        window->span(axis))
      return emitOptionalError(location,
                               "padding must be smaller than the window of ",
                               window->span(axis));
  return window;
}

FailureOr<SmallVector<int64_t>>
pooledShape(std::optional<Location> location, ArrayRef<int64_t> x,
            const WindowAttributes &attributes) {
  auto window = poolWindow(location, x, attributes);
  if (failed(window))
    return failure();
  SmallVector<int64_t> shape(x.take_front(2));
  shape.append(window->output);
  return shape;
}

SmallVector<Value> inputIndex(ValueRange index, ValueRange spatial) {
  SmallVector<Value> result(index.take_front(2));
  result.append(spatial.begin(), spatial.end());
  return result;
}

void forEachWindow(const WindowGeometry &window, int64_t planes,
                   function_ref<void(int64_t, int64_t, ArrayRef<int64_t>)> fn) {
  int64_t size = numElements(window.output);
  for (int64_t plane = 0; plane < planes; ++plane) {
    SmallVector<int64_t> output(window.rank(), 0);
    for (int64_t offset = 0; offset < size;
         ++offset, nextIndex(output, window.output))
      fn(plane, offset, output);
  }
}

void forEachTap(const WindowGeometry &window, ArrayRef<int64_t> output,
                function_ref<void(int64_t)> fn) {
  SmallVector<int64_t> tap(window.rank(), 0);
  do {
    if (int64_t offset = tapOffset(window, output, tap); offset >= 0)
      fn(offset);
  } while (nextIndex(tap, window.kernel));
}

int64_t tapCount(const WindowGeometry &window, ArrayRef<int64_t> output,
                 bool includePad) {
  int64_t count = 1;
  for (size_t axis = 0; axis < window.rank(); ++axis)
    count *= tapCount(window, axis, output[axis], includePad);
  return count;
}

// The count is a product over the axes. An axis where all windows have as many
// taps gives a constant, the usual case without padding.
Value emitTapCount(ScalarBuilder &b, const WindowGeometry &w, ValueRange output,
                   bool includePad) {
  Value count = b.constant(1);
  for (size_t axis = 0; axis < w.rank(); ++axis) {
    int64_t first = tapCount(w, axis, 0, includePad);
    bool uniform =
        llvm::all_of(llvm::seq<int64_t>(0, w.output[axis]), [&](int64_t o) {
          return tapCount(w, axis, o, includePad) == first;
        });
    if (uniform) {
      count = b.mul(count, b.constant(static_cast<double>(first)));
      continue;
    }
    // Positions count from the start of the padding, so that none is negative.
    int64_t from = includePad ? 0 : w.padsBegin[axis],
            size = w.input[axis] +
                   (includePad ? w.padsBegin[axis] + w.padsEnd[axis] : 0);
    Value start = b.sub(b.mul(output[axis], b.constantIndex(w.strides[axis])),
                        b.constantIndex(from));
    Value along =
        b.loop({w.kernel[axis]}, b.constant(0), [&](ValueRange tap, Value sum) {
          Value at =
              b.add(start, b.mul(tap[0], b.constantIndex(w.dilations[axis])));
          return b.add(sum, b.convert(b.compare(Compare::Less, at,
                                                b.constantIndex(size)),
                                      sum.getType()));
        });
    count = b.mul(count, along);
  }
  return count;
}

} // namespace halftone::graph
