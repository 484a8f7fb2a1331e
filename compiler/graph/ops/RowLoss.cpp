// SPDX-License-Identifier: Apache-2.0
// Losses that are the mean of an elementwise error: each op gives the error and
// its slopes, the weighted mean is shared.
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"
#include "compiler/graph/ops/Composite.h"
#include "compiler/graph/ops/Labels.h"
#include <cmath>

using namespace mlir;

namespace halftone::graph {
namespace {

/// Shape [rows, 1, ...] of the weights against the prediction.
SmallVector<int64_t> weightShape(Value prediction) {
  SmallVector<int64_t> shape(rankOf(prediction), 1);
  shape[0] = shapeOf(prediction)[0];
  return shape;
}

double elementsOfRow(Value prediction) {
  return static_cast<double>(numElements(shapeOf(prediction).drop_front()));
}

LogicalResult inferRowLoss(std::optional<Location> location, Value prediction,
                           Value target, Value weight,
                           SmallVectorImpl<Type> &types) {
  if (shapeOf(prediction) != shapeOf(target))
    return emitOptionalError(location, "prediction ", prediction.getType(),
                             " and target ", target.getType(),
                             " differ in shape");
  if (weight && (rankOf(prediction) < 1 ||
                 shapeOf(weight) != shapeOf(prediction).take_front()))
    return emitOptionalError(location, "row weights ", weight.getType(),
                             " do not match the rows of ",
                             prediction.getType());
  types.push_back(RankedTensorType::get({}, wideTypeOf(prediction)));
  return success();
}

LogicalResult evaluateRowLoss(Operation *op, ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results,
                              function_ref<double(double x, double t)> error) {
  const HostTensor &x = operands[0];
  bool weighted = operands.size() > 2;
  int64_t rows = weighted ? x.getShape()[0] : 1,
          perRow = x.size() / std::max<int64_t>(1, rows);
  double sum = 0, weights = 0;
  for (int64_t row = 0; row < rows; ++row) {
    double weight = weighted ? operands[2].floats[row] : 1;
    weights += weight;
    for (int64_t i = row * perRow; i < (row + 1) * perRow; ++i)
      sum += weight * error(x.floats[i], operands[1].floats[i]);
  }
  results.push_back(resultTensor(op));
  results[0].floats[0] = sum / (weights * static_cast<double>(perRow));
  return success();
}

/// What an error is divided by: the number of elements that count. A scalar, or
/// null without weights.
Value weightedCount(ImplicitLocOpBuilder &b, Value prediction, Value weight) {
  Value sum = total(b, widen(b, weight));
  return b.create<MulOp>(sum, scalarLike(b, sum, elementsOfRow(prediction)));
}

template <typename Op>
SmallVector<Value> decomposeRowLoss(Op op, ImplicitLocOpBuilder &b,
                                    Value error) {
  Value prediction = op.getPrediction(), weight = op.getRowWeight(), count;
  if (weight) {
    count = weightedCount(b, prediction, weight);
    error = b.create<MulOp>(
        error, reshapeTo(b, widen(b, weight), weightShape(prediction)));
  } else {
    count = scalarLike(b, error,
                       static_cast<double>(numElements(shapeOf(prediction))));
  }
  return {toTypeOf(b, b.create<DivOp>(total(b, error), count), op.getLoss())};
}

/// dy / count, times the weight of the row: what multiplies an error's slopes.
template <typename Op>
Value shareOfElement(Op op, ImplicitLocOpBuilder &b, Value dy) {
  Value prediction = op.getPrediction(), weight = op.getRowWeight();
  if (!weight)
    return b.create<DivOp>(
        dy, scalarLike(b, dy,
                       static_cast<double>(numElements(shapeOf(prediction)))));
  Value share = b.create<DivOp>(dy, weightedCount(b, prediction, weight));
  return b.create<MulOp>(share, reshapeTo(b, weight, weightShape(prediction)));
}

/// One value an operand from the slopes by prediction and target.
template <typename Op>
SmallVector<Value> rowLossVjp(Op op, ImplicitLocOpBuilder &b, Value dy,
                              Value byPrediction, Value byTarget) {
  Value share = shareOfElement(op, b, dy);
  SmallVector<Value> result{b.create<MulOp>(byPrediction, share),
                            b.create<MulOp>(byTarget, share)};
  result.resize(op->getNumOperands());
  return result;
}

template <typename Op> Value distance(Op op, ImplicitLocOpBuilder &b) {
  return b.create<SubOp>(widen(b, op.getPrediction()),
                         widen(b, op.getTarget()));
}

} // namespace

LogicalResult MseLossOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferRowLoss(location, adaptor.getPrediction(), adaptor.getTarget(),
                      adaptor.getRowWeight(), types);
}
LogicalResult MseLossOp::evaluate(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  return evaluateRowLoss(*this, operands, results,
                         [](double x, double t) { return (x - t) * (x - t); });
}
SmallVector<Value> MseLossOp::buildVjp(ImplicitLocOpBuilder &b,
                                       ValueRange grads) {
  Value slope = times(b, distance(*this, b), 2);
  return rowLossVjp(*this, b, grads[0], slope, b.create<NegOp>(slope));
}
SmallVector<Value> MseLossOp::decompose(ImplicitLocOpBuilder &b) {
  Value d = distance(*this, b);
  return decomposeRowLoss(*this, b, b.create<MulOp>(d, d));
}

LogicalResult L1LossOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferRowLoss(location, adaptor.getPrediction(), adaptor.getTarget(),
                      adaptor.getRowWeight(), types);
}
LogicalResult L1LossOp::evaluate(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  return evaluateRowLoss(*this, operands, results,
                         [](double x, double t) { return std::abs(x - t); });
}
SmallVector<Value> L1LossOp::buildVjp(ImplicitLocOpBuilder &b,
                                      ValueRange grads) {
  Value slope = b.create<SignOp>(distance(*this, b));
  return rowLossVjp(*this, b, grads[0], slope, b.create<NegOp>(slope));
}
SmallVector<Value> L1LossOp::decompose(ImplicitLocOpBuilder &b) {
  return decomposeRowLoss(*this, b, b.create<AbsOp>(distance(*this, b)));
}

LogicalResult BceWithLogitsLossOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  return inferRowLoss(location, adaptor.getPrediction(), adaptor.getTarget(),
                      adaptor.getRowWeight(), types);
}
LogicalResult
BceWithLogitsLossOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateRowLoss(*this, operands, results, [](double x, double t) {
    return std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x)));
  });
}
// Slopes: sigmoid(x) - t, and -x.
SmallVector<Value> BceWithLogitsLossOp::buildVjp(ImplicitLocOpBuilder &b,
                                                 ValueRange grads) {
  Value x = getPrediction(),
        slope = b.create<SubOp>(b.create<SigmoidOp>(x), getTarget());
  return rowLossVjp(*this, b, grads[0], slope, b.create<NegOp>(x));
}
// softplus(-|x|) is log(1 + exp(-|x|)): no cancellation where the target is
// right.
SmallVector<Value> BceWithLogitsLossOp::decompose(ImplicitLocOpBuilder &b) {
  Value x = widen(b, getPrediction()), t = widen(b, getTarget());
  Value linear = b.create<SubOp>(b.create<ReluOp>(x), b.create<MulOp>(x, t));
  Value curved = b.create<SoftplusOp>(b.create<NegOp>(b.create<AbsOp>(x)));
  return decomposeRowLoss(*this, b, b.create<AddOp>(linear, curved));
}

} // namespace halftone::graph
