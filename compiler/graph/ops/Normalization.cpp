// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/ops/Normalization.h"
#include "compiler/graph/Constants.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/ops/Composite.h"
#include <cmath>

using namespace mlir;

namespace halftone::graph {
namespace {

/// The mean of fn(offset of the element, offset of its mean) for each mean.
std::vector<double> hostMean(const NormalizationView &view,
                             function_ref<double(int64_t, int64_t)> fn) {
  SmallVector<int64_t> kept = view.moments(), index(view.shape.size(), 0);
  std::vector<double> result(numElements(kept), 0.0);
  for (int64_t i = 0, n = numElements(view.shape); i < n;
       ++i, nextIndex(index, view.shape)) {
    int64_t at = broadcastOffset(index, kept);
    result[at] += fn(i, at);
  }
  for (double &sum : result)
    sum /= static_cast<double>(view.count());
  return result;
}

Value add(ImplicitLocOpBuilder &b, Value x, Value y) {
  return x ? b.create<AddOp>(x, y).getResult() : y;
}

} // namespace

SmallVector<int64_t> NormalizationView::moments() const {
  SmallVector<int64_t> kept(shape);
  for (int64_t axis : axes)
    kept[axis] = 1;
  return kept;
}

int64_t NormalizationView::count() const {
  return numElements(shape) / std::max<int64_t>(1, numElements(moments()));
}

HostNormalization evaluateNormalization(const NormalizationView &view,
                                        const HostTensor &x,
                                        const HostTensor &scale,
                                        const HostTensor *bias) {
  HostNormalization result;
  SmallVector<int64_t> kept = view.moments(), index(view.shape.size(), 0);
  result.mean.assign(numElements(kept), 0.0);
  if (view.centered)
    result.mean =
        hostMean(view, [&](int64_t i, int64_t) { return x.floats[i]; });
  result.variance = hostMean(view, [&](int64_t i, int64_t at) {
    double distance = x.floats[i] - result.mean[at];
    return distance * distance;
  });
  for (double variance : result.variance)
    result.inverseDeviation.push_back(1 / std::sqrt(variance + view.epsilon));
  result.y.resize(x.size());
  for (int64_t i = 0; i < x.size(); ++i, nextIndex(index, view.shape)) {
    int64_t at = broadcastOffset(index, kept),
            channel = broadcastOffset(index, view.affine);
    result.y[i] = (x.floats[i] - result.mean[at]) *
                  result.inverseDeviation[at] * scale.floats[channel];
    result.y[i] += bias ? bias->floats[channel] : 0;
  }
  return result;
}

Normalized buildNormalization(ImplicitLocOpBuilder &b,
                              const NormalizationView &view, Value x,
                              Value scale, Value bias) {
  SmallVector<int64_t> shape(shapeOf(x));
  x = reshapeTo(b, widen(b, x), view.shape);
  scale = reshapeTo(b, widen(b, scale), view.affine);
  Normalized result;
  Value centered = x;
  if (view.centered) {
    result.mean = meanOver(b, x, view.axes);
    centered = b.create<SubOp>(x, result.mean);
  }
  Value variance = meanOver(b, b.create<MulOp>(centered, centered), view.axes);
  Value deviation = b.create<SqrtOp>(
      b.create<AddOp>(variance, scalarLike(b, variance, view.epsilon)));
  result.inverseDeviation = b.create<ReciprocalOp>(deviation);
  Value y = b.create<MulOp>(b.create<MulOp>(centered, result.inverseDeviation),
                            scale);
  if (bias)
    y = b.create<AddOp>(y, reshapeTo(b, widen(b, bias), view.affine));
  result.y = reshapeTo(b, y, shape);
  return result;
}

// With u = (x - mean) r, r = 1 / sqrt(variance + epsilon) and g = dy scale:
//   dx = r (g - mean(g) - u mean(g u)), dscale = sum(dy u), dbias = sum(dy);
// and since d mean / dx = 1 / n and d r / dx = -r^2 u / n, gradients of the
// statistics add dMean / n - dR r^2 u / n.
SmallVector<Value> buildNormalizationVjp(ImplicitLocOpBuilder &b,
                                         const NormalizationView &view,
                                         const NormalizationSaved &saved,
                                         Value dy, Value dMean,
                                         Value dInverseDeviation) {
  Value x = reshapeTo(b, saved.x, view.shape), r = saved.inverseDeviation, dx,
        dScale, dBias;
  Value u = b.create<MulOp>(
      view.centered ? b.create<SubOp>(x, saved.mean).getResult() : x, r);
  if (dy) {
    dy = reshapeTo(b, dy, view.shape);
    Value g = b.create<MulOp>(dy, reshapeTo(b, saved.scale, view.affine));
    dx = b.create<SubOp>(
        g, b.create<MulOp>(u, meanOver(b, b.create<MulOp>(g, u), view.axes)));
    if (view.centered)
      dx = b.create<SubOp>(dx, meanOver(b, g, view.axes));
    dx = b.create<MulOp>(dx, r);
    dScale = reshapeTo(b, sumTo(b, b.create<MulOp>(dy, u), view.affine),
                       shapeOf(saved.scale));
    if (saved.bias)
      dBias = reshapeTo(b, sumTo(b, dy, view.affine), shapeOf(saved.bias));
  }
  Value count = scalarLike(b, u, static_cast<double>(view.count()));
  if (dMean)
    dx = add(b, dx,
             b.create<ExpandOp>(b.create<DivOp>(dMean, count), view.shape));
  if (dInverseDeviation) {
    Value slope = b.create<MulOp>(
        b.create<NegOp>(b.create<DivOp>(dInverseDeviation, count)),
        b.create<MulOp>(r, r));
    dx = add(b, dx, b.create<MulOp>(slope, u));
  }
  return {reshapeTo(b, dx, shapeOf(saved.x)), dScale, dBias};
}

} // namespace halftone::graph
