// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/ops/Composite.h"
#include "compiler/graph/ops/Normalization.h"
#include <cmath>

using namespace mlir;

namespace halftone::graph {
namespace {

/// Per channel: means over all axes but 1.
NormalizationView viewOf(BatchNormalizationOp op) {
  NormalizationView view;
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  view.shape.assign(shape.begin(), shape.end());
  view.affine.assign(shape.size(), 1);
  view.affine[1] = shape[1];
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
    if (axis != 1)
      view.axes.push_back(axis);
  view.epsilon = op.getEpsilon().convertToFloat();
  return view;
}

/// Divisor of the unbiased variance; a single element has variance 0.
double unbiasedCount(const NormalizationView &view) {
  return static_cast<double>(std::max<int64_t>(1, view.count() - 1));
}

/// old + (1 - momentum) (batch - old), written so that momentum is the only
/// constant and an unchanged value stays exactly.
Value moveTowards(ImplicitLocOpBuilder &b, Value running, Value batch,
                  double momentum) {
  Value old = widen(b, running);
  Value way = b.create<SubOp>(old, batch);
  Value part = b.create<MulOp>(way, scalarLike(b, way, momentum));
  return b.create<AddOp>(batch, part);
}

} // namespace

LogicalResult BatchNormalizationOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  if (x.size() < 2)
    return emitOptionalError(location, "needs a channel axis, got ",
                             adaptor.getX().getType());
  for (Value v : adaptor.getOperands().drop_front())
    if (shapeOf(v) != ArrayRef<int64_t>{x[1]})
      return emitOptionalError(location, "scale, bias and statistics need ",
                               x[1], " elements, got ", v.getType());
  SmallVector<int64_t> kept(x.size(), 1);
  kept[1] = x[1];
  types.push_back(adaptor.getX().getType());
  types.push_back(adaptor.getInputMean().getType());
  types.push_back(adaptor.getInputVar().getType());
  types.append(
      2, RankedTensorType::get(kept, elementTypeOf(adaptor.getInputMean())));
  return success();
}

void BatchNormalizationOp::setTraining(bool training) {
  setTrainingMode(training ? 1 : 0);
}

SmallVector<std::pair<unsigned, unsigned>>
BatchNormalizationOp::getStatisticUpdates() {
  if (!getTrainingMode())
    return {};
  return {{3, 1}, {4, 2}};
}

LogicalResult
BatchNormalizationOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  NormalizationView view = viewOf(*this);
  for (unsigned i = 0; i < 5; ++i)
    results.push_back(resultTensor(*this, i));
  HostTensor &runningMean = results[1], &runningVariance = results[2];
  runningMean.floats = operands[3].floats;
  runningVariance.floats = operands[4].floats;
  if (getTrainingMode()) {
    HostNormalization values =
        evaluateNormalization(view, operands[0], operands[1], &operands[2]);
    double momentum = getMomentum().convertToFloat();
    double correction = static_cast<double>(view.count()) / unbiasedCount(view);
    for (int64_t c = 0; c < runningMean.size(); ++c) {
      double mean = values.mean[c], variance = values.variance[c] * correction;
      runningMean.floats[c] = mean + momentum * (operands[3].floats[c] - mean);
      runningVariance.floats[c] =
          variance + momentum * (operands[4].floats[c] - variance);
    }
    results[0].floats = std::move(values.y);
    results[3].floats = std::move(values.mean);
    results[4].floats = std::move(values.inverseDeviation);
    return success();
  }
  results[3].floats = operands[3].floats;
  for (int64_t c = 0; c < runningVariance.size(); ++c)
    results[4].floats[c] = 1 / std::sqrt(operands[4].floats[c] + view.epsilon);
  int64_t plane = numElements(view.shape) /
                  std::max<int64_t>(1, view.shape[0] * view.shape[1]);
  for (int64_t i = 0; i < operands[0].size(); ++i) {
    int64_t c = i / plane % view.shape[1];
    double u =
        (operands[0].floats[i] - results[3].floats[c]) * results[4].floats[c];
    results[0].floats[i] = u * operands[1].floats[c] + operands[2].floats[c];
  }
  return success();
}

// With u = (x - mean) r: dB = sum(dy), dscale = sum(dy u), and
//   dx = scale r (dy - dB / n - u dscale / n) for batch statistics,
//   dx = scale r dy for running ones. Two reductions in all.
SmallVector<Value> BatchNormalizationOp::buildVjp(ImplicitLocOpBuilder &b,
                                                  ValueRange grads) {
  Value dy = grads[0];
  if (!dy)
    return SmallVector<Value>(5);
  NormalizationView view = viewOf(*this);
  Value r = getSavedInvStd(), scale = reshapeTo(b, getScale(), view.affine);
  Value u = b.create<MulOp>(b.create<SubOp>(getX(), getSavedMean()), r);
  Value dBias = sumOver(b, dy, view.axes);
  Value dScale = sumOver(b, b.create<MulOp>(dy, u), view.axes);
  Value inner = dy;
  if (getTrainingMode()) {
    Value n = scalarLike(b, u, static_cast<double>(view.count()));
    inner = b.create<SubOp>(inner, b.create<DivOp>(dBias, n));
    inner =
        b.create<SubOp>(inner, b.create<MulOp>(u, b.create<DivOp>(dScale, n)));
  }
  Value dx = b.create<MulOp>(inner, b.create<MulOp>(scale, r));
  return {dx, reshapeTo(b, dScale, shapeOf(getScale())),
          reshapeTo(b, dBias, shapeOf(getB())), Value(), Value()};
}

SmallVector<Value> BatchNormalizationOp::decompose(ImplicitLocOpBuilder &b) {
  NormalizationView view = viewOf(*this);
  Value x = widen(b, getX()), mean, variance;
  Value runningMean = getInputMean(), runningVariance = getInputVar();
  Value centered;
  if (getTrainingMode()) {
    mean = meanOver(b, x, view.axes);
    centered = b.create<SubOp>(x, mean);
    Value squares = sumOver(b, b.create<MulOp>(centered, centered), view.axes);
    auto divided = [&](double by) -> Value {
      return b.create<DivOp>(squares, scalarLike(b, squares, by));
    };
    variance = divided(static_cast<double>(view.count()));
    double momentum = getMomentum().convertToFloat();
    ArrayRef<int64_t> channels = shapeOf(runningMean);
    runningMean =
        moveTowards(b, runningMean, reshapeTo(b, mean, channels), momentum);
    runningVariance = moveTowards(
        b, runningVariance,
        reshapeTo(b, divided(unbiasedCount(view)), channels), momentum);
  } else {
    mean = reshapeTo(b, widen(b, runningMean), view.affine);
    variance = reshapeTo(b, widen(b, runningVariance), view.affine);
    centered = b.create<SubOp>(x, mean);
  }
  Value deviation = b.create<SqrtOp>(
      b.create<AddOp>(variance, scalarLike(b, variance, view.epsilon)));
  Value r = b.create<ReciprocalOp>(deviation);
  Value y = b.create<MulOp>(b.create<MulOp>(centered, r),
                            reshapeTo(b, widen(b, getScale()), view.affine));
  y = b.create<AddOp>(y, reshapeTo(b, widen(b, getB()), view.affine));
  const SmallVector<Value> values = {y, runningMean, runningVariance, mean, r};
  SmallVector<Value> results;
  for (auto [value, result] : llvm::zip_equal(values, getResults()))
    results.push_back(toTypeOf(b, value, result));
  return results;
}

} // namespace halftone::graph
