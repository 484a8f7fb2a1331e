// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/ops/WindowGeometry.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace halftone::graph {
namespace {

/// A list attribute or its default; empty where the length is wrong.
SmallVector<int64_t> valuesOr(std::optional<ArrayRef<int64_t>> given,
                              size_t length, int64_t fallback) {
  if (!given || given->empty())
    return SmallVector<int64_t>(length, fallback);
  return given->size() == length ? SmallVector<int64_t>(*given)
                                 : SmallVector<int64_t>();
}

/// Products of two values in range fit into 64 bits.
bool anyOutside(ArrayRef<int64_t> values, int64_t least) {
  return llvm::any_of(values,
                      [&](int64_t v) { return v < least || v > INT32_MAX; });
}

/// SAME_*: the output has ceil(input / stride) positions, and the odd element
/// of padding goes to the named side.
void padToSame(WindowGeometry &w, size_t axis, bool oddAtEnd) {
  w.output[axis] = llvm::divideCeil(w.input[axis], w.strides[axis]);
  int64_t total = std::max<int64_t>(0, (w.output[axis] - 1) * w.strides[axis] +
                                           w.span(axis) - w.input[axis]);
  w.padsBegin[axis] = oddAtEnd ? total / 2 : total - total / 2;
  w.padsEnd[axis] = total - w.padsBegin[axis];
}

/// Output positions with known padding; 0 where the window does not fit.
int64_t outputExtent(const WindowGeometry &w, size_t axis, bool ceilMode) {
  int64_t room =
      w.input[axis] + w.padsBegin[axis] + w.padsEnd[axis] - w.span(axis);
  if (room < 0)
    return 0;
  if (!ceilMode)
    return room / w.strides[axis] + 1;
  int64_t extent =
      static_cast<int64_t>(llvm::divideCeil(room, w.strides[axis])) + 1;
  bool lastStartsInPadding =
      (extent - 1) * w.strides[axis] >= w.input[axis] + w.padsBegin[axis];
  return lastStartsInPadding ? extent - 1 : extent;
}

} // namespace

SmallVector<int64_t> WindowGeometry::pads() const {
  SmallVector<int64_t> both(padsBegin);
  both.append(padsEnd);
  return both;
}

FailureOr<WindowGeometry> windowGeometry(std::optional<Location> location,
                                         ArrayRef<int64_t> input,
                                         const WindowAttributes &attributes) {
  WindowGeometry w;
  size_t rank = input.size();
  w.input.assign(input.begin(), input.end());
  w.kernel.assign(attributes.kernel.begin(), attributes.kernel.end());
  w.strides = valuesOr(attributes.strides, rank, 1);
  w.dilations = valuesOr(attributes.dilations, rank, 1);
  SmallVector<int64_t> pads = valuesOr(attributes.pads, 2 * rank, 0);
  if (w.kernel.size() != rank || w.strides.size() != rank ||
      w.dilations.size() != rank || pads.size() != 2 * rank)
    return emitOptionalError(location, "kernel, strides and dilations need ",
                             rank, " entries and pads ", 2 * rank);
  if (anyOutside(w.kernel, 1) || anyOutside(w.strides, 1) ||
      anyOutside(w.dilations, 1) || anyOutside(pads, 0))
    return emitOptionalError(location, "kernel [", w.kernel, "], strides [",
                             w.strides, "] and dilations [", w.dilations,
                             "] must be positive, pads [", pads,
                             "] not negative, and all below 2^31");
  w.padsBegin.assign(pads.begin(), pads.begin() + rank);
  w.padsEnd.assign(pads.begin() + rank, pads.end());
  w.output.resize(rank);
  StringRef mode = attributes.autoPad;
  bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!same && mode != "NOTSET" && mode != "VALID" && !mode.empty())
    return emitOptionalError(
        location, "auto_pad '", mode,
        "' is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER");
  for (size_t axis = 0; axis < rank; ++axis) {
    if (mode == "VALID")
      w.padsBegin[axis] = w.padsEnd[axis] = 0;
    if (same)
      padToSame(w, axis, mode == "SAME_UPPER");
    else
      w.output[axis] = outputExtent(w, axis, attributes.ceilMode);
    if (w.output[axis] < 1)
      return emitOptionalError(location, "a window of ", w.span(axis),
                               " does not fit into ", w.input[axis],
                               " elements with padding ", w.padsBegin[axis],
                               " and ", w.padsEnd[axis]);
  }
  return w;
}

// Index arithmetic wraps and compares unsigned: a position before the input
// becomes a huge number, so one comparison tests both ends.
TapPosition emitTap(ScalarBuilder &b, const WindowGeometry &window,
                    ValueRange output, ValueRange tap) {
  TapPosition result;
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    Value start = b.mul(output[axis], b.constantIndex(window.strides[axis]));
    Value at =
        b.add(start, b.mul(tap[axis], b.constantIndex(window.dilations[axis])));
    at = b.sub(at, b.constantIndex(window.padsBegin[axis]));
    Value inside =
        b.compare(Compare::Less, at, b.constantIndex(window.input[axis]));
    result.index.push_back(at);
    result.inside = result.inside ? b.andi(result.inside, inside) : inside;
  }
  return result;
}

} // namespace halftone::graph
