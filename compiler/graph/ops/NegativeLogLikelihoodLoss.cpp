// SPDX-License-Identifier: Apache-2.0
// ONNX's losses over class labels, with class weights and a choice of
// reduction.
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

std::optional<int64_t> ignoreIndex(NegativeLogLikelihoodLossOp op) {
  return op.getIgnoreIndex();
}

LogicalResult inferClassLoss(std::optional<Location> location, Value scores,
                             Value target, Value weight, StringRef reduction,
                             SmallVectorImpl<Type> &types) {
  if (rankOf(scores) < 2)
    return emitOptionalError(location, "scores need a class axis 1, got ",
                             scores.getType());
  if (failed(checkLabels(location, scores, target, 1)))
    return failure();
  if (weight && shapeOf(weight) != shapeOf(scores).slice(1, 1))
    return emitOptionalError(location, "class weights ", weight.getType(),
                             " do not match the classes of ", scores.getType());
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    return emitOptionalError(location, "reduction '", reduction,
                             "' is none of none, mean, sum");
  ArrayRef<int64_t> shape =
      reduction == "none" ? shapeOf(target) : ArrayRef<int64_t>();
  types.push_back(RankedTensorType::get(shape, wideTypeOf(scores)));
  return success();
}

/// The weight of each label, 0 where it is ignored, with extent 1 along the
/// classes.
Value labelWeights(ImplicitLocOpBuilder &b, const Labels &labels, Value weight,
                   int64_t rank) {
  if (!weight)
    return asNumber(b, labels.valid);
  SmallVector<int64_t> shape(rank, 1);
  shape[1] = shapeOf(weight)[0];
  Value classes = reshapeTo(b, widen(b, weight), shape);
  return keepWhere(b, labels.valid,
                   sumOver(b, keepWhere(b, labels.oneHot, classes), 1));
}

} // namespace

LogicalResult NegativeLogLikelihoodLossOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  return inferClassLoss(location, adaptor.getInput(), adaptor.getTarget(),
                        adaptor.getWeight(), adaptor.getReduction(), types);
}

LogicalResult
NegativeLogLikelihoodLossOp::evaluate(ArrayRef<HostTensor> operands,
                                      SmallVectorImpl<HostTensor> &results) {
  HostTensor loss = resultTensor(*this);
  bool none = getReduction() == "none";
  double sum = 0, weights = 0;
  auto add = [&](int64_t position, int64_t label, int64_t first,
                 int64_t stride) {
    double weight = operands.size() > 2 ? operands[2].floats[label] : 1;
    double term = -weight * operands[0].floats[first + label * stride];
    if (none)
      loss.floats[position] = term;
    sum += term;
    weights += weight;
  };
  if (failed(forEachLabel(*this, operands[0], operands[1], 1,
                          ignoreIndex(*this), add)))
    return failure();
  if (!none)
    loss.floats[0] = getReduction() == "mean" ? sum / weights : sum;
  results.push_back(std::move(loss));
  return success();
}

SmallVector<Value>
NegativeLogLikelihoodLossOp::buildVjp(ImplicitLocOpBuilder &b,
                                      ValueRange grads) {
  Labels labels =
      buildLabels(b, getInput(), getTarget(), 1, ignoreIndex(*this));
  Value weights = labelWeights(b, labels, getWeight(), rankOf(getInput())),
        share = grads[0];
  if (getReduction() == "mean")
    share = b.create<DivOp>(share, total(b, weights));
  else if (getReduction() == "none")
    share = reshapeTo(b, share, shapeOf(weights));
  Value slope = keepWhere(b, labels.valid,
                          b.create<NegOp>(b.create<MulOp>(weights, share)));
  SmallVector<Value> result{keepWhere(b, labels.oneHot, slope), Value()};
  result.resize(getNumOperands());
  return result;
}

SmallVector<Value>
NegativeLogLikelihoodLossOp::decompose(ImplicitLocOpBuilder &b) {
  Labels labels =
      buildLabels(b, getInput(), getTarget(), 1, ignoreIndex(*this));
  Value weights = labelWeights(b, labels, getWeight(), rankOf(getInput()));
  Value picked =
      sumOver(b, keepWhere(b, labels.oneHot, widen(b, getInput())), 1);
  // An ignored label picks nothing, whatever weighs it.
  Value loss = keepWhere(b, labels.valid,
                         b.create<NegOp>(b.create<MulOp>(picked, weights)));
  if (getReduction() == "none")
    loss = reshapeTo(b, loss, shapeOf(getTarget()));
  else
    loss = total(b, loss);
  if (getReduction() == "mean")
    loss = b.create<DivOp>(loss, total(b, weights));
  return {toTypeOf(b, loss, getLoss())};
}

LogicalResult SoftmaxCrossEntropyLossOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (failed(inferClassLoss(location, adaptor.getScores(), adaptor.getLabels(),
                            adaptor.getWeights(), adaptor.getReduction(),
                            types)))
    return failure();
  types.push_back(adaptor.getScores().getType());
  return success();
}

// Evaluated as it decomposes, so that the two losses agree.
LogicalResult
SoftmaxCrossEntropyLossOp::evaluate(ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  OpBuilder builder(getContext());
  ImplicitLocOpBuilder b(getLoc(), builder);
  OwningOpRef<LogSoftmaxOp> logSoftmax = b.create<LogSoftmaxOp>(getScores(), 1);
  OwningOpRef<NegativeLogLikelihoodLossOp> loss =
      b.create<NegativeLogLikelihoodLossOp>(
          logSoftmax->getOutput(), getLabels(), getWeights(),
          getIgnoreIndexAttr(), getReductionAttr());
  SmallVector<HostTensor> logProb;
  if (failed(logSoftmax->evaluate(operands.take_front(), logProb)))
    return failure();
  SmallVector<HostTensor> lossOperands(operands);
  lossOperands[0] = logProb[0];
  LogicalResult status = loss->evaluate(lossOperands, results);
  results.push_back(std::move(logProb[0]));
  return status;
}

SmallVector<Value>
SoftmaxCrossEntropyLossOp::decompose(ImplicitLocOpBuilder &b) {
  Value logProb = b.create<LogSoftmaxOp>(getScores(), 1);
  Value loss = b.create<NegativeLogLikelihoodLossOp>(
      logProb, getLabels(), getWeights(), getIgnoreIndexAttr(),
      getReductionAttr());
  return {toTypeOf(b, loss, getOutput()), toTypeOf(b, logProb, getLogProb())};
}

} // namespace halftone::graph
