// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/ops/Convolution.h"
#include "compiler/graph/BroadcastShape.h"
#include "compiler/graph/ChannelsLast.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace halftone::graph {

double ConvolutionShape::flops() const {
  int64_t depth = channels / group; // exact
  double products = static_cast<double>(batch) * static_cast<double>(filters) *
                    static_cast<double>(depth);
  return 2.0 * products * static_cast<double>(numElements(window.kernel)) *
         static_cast<double>(numElements(window.output));
}

namespace {

SmallVector<int64_t> shapeOfParts(int64_t first, int64_t channels,
                                  ArrayRef<int64_t> spatial,
                                  bool channelsLast) {
  SmallVector<int64_t> shape{first, channels};
  shape.append(spatial.begin(), spatial.end());
  return channelsLast ? channelsToEnd(shape) : shape;
}

} // namespace

SmallVector<int64_t> ConvolutionShape::x() const {
  return shapeOfParts(batch, channels, window.input, channelsLast);
}
SmallVector<int64_t> ConvolutionShape::w() const {
  return shapeOfParts(filters, channels / group, window.kernel, channelsLast);
}
SmallVector<int64_t> ConvolutionShape::y() const {
  return shapeOfParts(batch, filters, window.output, channelsLast);
}

FailureOr<ConvolutionShape>
convolutionShape(std::optional<Location> location, ArrayRef<int64_t> x,
                 ArrayRef<int64_t> w, int64_t group, bool channelsLast,
                 const WindowAttributes &attributes) {
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size())
    return emitOptionalError(location,
                             "convolution needs 1 to 3 spatial axes and as "
                             "many in its weights, got ranks ",
                             x.size(), " and ", w.size());
  SmallVector<int64_t> firstX, firstW;
  if (channelsLast) {
    firstX = channelsFromEnd(x), firstW = channelsFromEnd(w);
    x = firstX, w = firstW;
  }
  if (group < 1 || x[1] % group || w[0] % group || w[1] * group != x[1])
    return emitOptionalError(location, "weights [", w, "] in ", group,
                             " groups do not fit ", x[1], " channels");
  if (!attributes.kernel.empty() && attributes.kernel != w.drop_front(2))
    return emitOptionalError(location, "kernel_shape [", attributes.kernel,
                             "] differs from the weights' [", w.drop_front(2),
                             "]");
  WindowAttributes known = attributes;
  known.kernel = w.drop_front(2);
  auto window = windowGeometry(location, x.drop_front(2), known);
  if (failed(window))
    return failure();
  return ConvolutionShape{x[0],  x[1],         w[0],
                          group, channelsLast, std::move(*window)};
}

} // namespace halftone::graph
