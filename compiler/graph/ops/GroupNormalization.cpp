// SPDX-License-Identifier: Apache-2.0
// Instance and group normalization: over the spatial axes of a channel, or of a
// group of channels.
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/ops/Composite.h"
#include "compiler/graph/ops/Normalization.h"

using namespace mlir;

namespace halftone::graph {
namespace {

NormalizationView viewOf(InstanceNormalizationOp op) {
  NormalizationView view;
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  view.shape.assign(shape.begin(), shape.end());
  view.axes = llvm::to_vector(llvm::seq<int64_t>(2, rankOf(op.getInput())));
  view.affine.assign(shape.size(), 1);
  view.affine[1] = shape[1];
  view.epsilon = op.getEpsilon().convertToFloat();
  return view;
}

/// X as [N, groups, channels of a group, spatial...].
NormalizationView viewOf(GroupNormalizationOp op) {
  NormalizationView view;
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  int64_t groups = op.getNumGroups(), channels = shape[1] / groups;
  view.shape = {shape[0], groups, channels};
  view.shape.append(shape.begin() + 2, shape.end());
  view.axes = llvm::to_vector(
      llvm::seq<int64_t>(2, static_cast<int64_t>(view.shape.size())));
  view.affine.assign(view.shape.size(), 1);
  view.affine[1] = groups;
  if (op.getOpset() >= 21)
    view.affine[2] = channels;
  view.epsilon = op.getEpsilon().convertToFloat();
  return view;
}

/// `parameters` elements in scale and bias each.
LogicalResult checkParameters(std::optional<Location> location, Value scale,
                              Value bias, int64_t parameters) {
  for (Value v : {scale, bias})
    if (shapeOf(v) != ArrayRef<int64_t>{parameters})
      return emitOptionalError(location, "scale and bias need ", parameters,
                               " elements, got ", v.getType());
  return success();
}

template <typename Op>
LogicalResult evaluateView(Op op, ArrayRef<HostTensor> operands,
                           SmallVectorImpl<HostTensor> &results) {
  HostNormalization values =
      evaluateNormalization(viewOf(op), operands[0], operands[1], &operands[2]);
  for (unsigned i = 0; i < 3; ++i)
    results.push_back(resultTensor(op, i));
  results[0].floats = std::move(values.y);
  results[1].floats = std::move(values.mean);
  results[2].floats = std::move(values.inverseDeviation);
  return success();
}

template <typename Op>
SmallVector<Value> buildViewVjp(Op op, ImplicitLocOpBuilder &b,
                                ValueRange grads) {
  NormalizationView view = viewOf(op);
  auto kept = [&](Value v) { return v ? reshapeTo(b, v, view.moments()) : v; };
  NormalizationSaved saved{op->getOperand(0), op->getOperand(1),
                           op->getOperand(2), kept(op->getResult(1)),
                           kept(op->getResult(2))};
  return buildNormalizationVjp(b, view, saved, grads[0], kept(grads[1]),
                               kept(grads[2]));
}

template <typename Op>
SmallVector<Value> decomposeView(Op op, ImplicitLocOpBuilder &b) {
  Normalized values = buildNormalization(b, viewOf(op), op->getOperand(0),
                                         op->getOperand(1), op->getOperand(2));
  SmallVector<Value> results;
  const SmallVector<Value> parts = {values.y, values.mean,
                                    values.inverseDeviation};
  for (auto [value, result] : llvm::zip_equal(parts, op->getResults()))
    results.push_back(
        toTypeOf(b, reshapeTo(b, value, shapeOf(result)), result));
  return results;
}

} // namespace

LogicalResult InstanceNormalizationOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getInput());
  if (x.size() < 3)
    return emitOptionalError(location, "needs spatial axes, got ",
                             adaptor.getInput().getType());
  if (failed(
          checkParameters(location, adaptor.getScale(), adaptor.getB(), x[1])))
    return failure();
  SmallVector<int64_t> kept(x.size(), 1);
  std::copy(x.begin(), x.begin() + 2, kept.begin());
  types.push_back(adaptor.getInput().getType());
  types.append(2, RankedTensorType::get(kept, wideTypeOf(adaptor.getInput())));
  return success();
}

LogicalResult
InstanceNormalizationOp::evaluate(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  return evaluateView(*this, operands, results);
}
SmallVector<Value> InstanceNormalizationOp::buildVjp(ImplicitLocOpBuilder &b,
                                                     ValueRange grads) {
  return buildViewVjp(*this, b, grads);
}
SmallVector<Value> InstanceNormalizationOp::decompose(ImplicitLocOpBuilder &b) {
  return decomposeView(*this, b);
}

LogicalResult GroupNormalizationOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  int64_t groups = adaptor.getNumGroups();
  if (x.size() < 2 || groups < 1 || x[1] % groups)
    return emitOptionalError(location, "channels of ", adaptor.getX().getType(),
                             " do not divide into ", groups, " groups");
  if (failed(checkParameters(location, adaptor.getScale(), adaptor.getBias(),
                             adaptor.getOpset() >= 21 ? x[1] : groups)))
    return failure();
  types.push_back(adaptor.getX().getType());
  types.append(
      2, RankedTensorType::get({x[0], groups}, wideTypeOf(adaptor.getX())));
  return success();
}

LogicalResult
GroupNormalizationOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  return evaluateView(*this, operands, results);
}
SmallVector<Value> GroupNormalizationOp::buildVjp(ImplicitLocOpBuilder &b,
                                                  ValueRange grads) {
  return buildViewVjp(*this, b, grads);
}
SmallVector<Value> GroupNormalizationOp::decompose(ImplicitLocOpBuilder &b) {
  return decomposeView(*this, b);
}

} // namespace halftone::graph
