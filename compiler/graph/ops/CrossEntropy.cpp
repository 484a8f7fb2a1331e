// SPDX-License-Identifier: Apache-2.0
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

int64_t axisOf(CrossEntropyOp op) {
  return *normalizeAxis(op.getAxis(), rankOf(op.getLogits()));
}

Labels labelsOf(CrossEntropyOp op, ImplicitLocOpBuilder &b) {
  return buildLabels(b, op.getLogits(), op.getTarget(), axisOf(op),
                     op.getIgnoreIndex());
}

/// Along the classes: logits - max(logits), its exponentials, and their sum.
struct Exponentials {
  Value shifted, exp, sum;
};
Exponentials exponentials(ImplicitLocOpBuilder &b, Value logits, int64_t axis) {
  Value x = widen(b, logits), shifted = b.create<SubOp>(x, maxOver(b, x, axis)),
        exp = b.create<ExpOp>(shifted);
  return {shifted, exp, sumOver(b, exp, axis)};
}

} // namespace

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  Value logits = adaptor.getLogits();
  int64_t rank = rankOf(logits);
  auto axis = normalizeAxis(adaptor.getAxis(), rank);
  if (rank < 2 || rank > 4 || failed(axis))
    return emitOptionalError(
        location, "logits need rank 2 to 4 with a class axis among them, got ",
        logits.getType(), " and axis ", adaptor.getAxis());
  if (failed(checkLabels(location, logits, adaptor.getTarget(), *axis)))
    return failure();
  types.push_back(RankedTensorType::get({}, wideTypeOf(logits)));
  return success();
}

LogicalResult CrossEntropyOp::evaluate(ArrayRef<HostTensor> operands,
                                       SmallVectorImpl<HostTensor> &results) {
  const HostTensor &logits = operands[0];
  int64_t axis = axisOf(*this), classes = logits.getShape()[axis], count = 0;
  double sum = 0;
  auto add = [&](int64_t, int64_t label, int64_t first, int64_t stride) {
    double max = logits.floats[first], exponentials = 0;
    for (int64_t c = 1; c < classes; ++c)
      max = std::max(max, logits.floats[first + c * stride]);
    for (int64_t c = 0; c < classes; ++c)
      exponentials += std::exp(logits.floats[first + c * stride] - max);
    sum += std::log(exponentials) + max - logits.floats[first + label * stride];
    ++count;
  };
  if (failed(forEachLabel(*this, logits, operands[1], axis, getIgnoreIndex(),
                          add)))
    return failure();
  results.push_back(resultTensor(*this));
  results[0].floats[0] = sum / static_cast<double>(count);
  return success();
}

// (softmax - onehot) dy / count where the label is valid, else 0: with no valid
// label at all nothing is selected from dy / 0.
SmallVector<Value> CrossEntropyOp::buildVjp(ImplicitLocOpBuilder &b,
                                            ValueRange grads) {
  Labels labels = labelsOf(*this, b);
  Exponentials e = exponentials(b, getLogits(), axisOf(*this));
  Value softmax = b.create<DivOp>(e.exp, e.sum);
  Value distance = b.create<SubOp>(softmax, asNumber(b, labels.oneHot));
  Value share = b.create<DivOp>(grads[0], total(b, asNumber(b, labels.valid)));
  return {b.create<MulOp>(distance, keepWhere(b, labels.valid, share)),
          Value()};
}

SmallVector<Value> CrossEntropyOp::decompose(ImplicitLocOpBuilder &b) {
  int64_t axis = axisOf(*this);
  Labels labels = labelsOf(*this, b);
  Exponentials e = exponentials(b, getLogits(), axis);
  Value picked = sumOver(b, keepWhere(b, labels.oneHot, e.shifted), axis);
  Value nll = keepWhere(b, labels.valid,
                        b.create<SubOp>(b.create<LogOp>(e.sum), picked));
  Value loss =
      b.create<DivOp>(total(b, nll), total(b, asNumber(b, labels.valid)));
  return {toTypeOf(b, loss, getLoss())};
}

} // namespace halftone::graph
