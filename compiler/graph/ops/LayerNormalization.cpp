// SPDX-License-Identifier: Apache-2.0
// Layer and RMS normalization: over the trailing axes.
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/ops/Composite.h"
#include "compiler/graph/ops/Normalization.h"

using namespace mlir;

namespace halftone::graph {
namespace {

NormalizationView trailingView(Value x, Value scale, int64_t axis,
                               const APFloat &epsilon, bool centered) {
  NormalizationView view;
  view.shape.assign(shapeOf(x).begin(), shapeOf(x).end());
  view.axes = llvm::to_vector(
      llvm::seq<int64_t>(*normalizeAxis(axis, rankOf(x)), rankOf(x)));
  // Leading ones, so that the affine shape has the rank of x.
  view.affine.assign(rankOf(x) - rankOf(scale), 1);
  view.affine.append(shapeOf(scale).begin(), shapeOf(scale).end());
  view.epsilon = epsilon.convertToFloat();
  view.centered = centered;
  return view;
}
NormalizationView viewOf(LayerNormalizationOp op) {
  return trailingView(op.getX(), op.getScale(), op.getAxis(), op.getEpsilon(),
                      true);
}
NormalizationView viewOf(RMSNormalizationOp op) {
  return trailingView(op.getX(), op.getScale(), op.getAxis(), op.getEpsilon(),
                      false);
}

LogicalResult checkAffine(std::optional<Location> location, StringRef name,
                          Value affine, Value x) {
  auto joined = broadcastShapes(shapeOf(x), shapeOf(affine));
  if (failed(joined) || ArrayRef<int64_t>(*joined) != shapeOf(x))
    return emitOptionalError(location, name, " ", affine.getType(),
                             " does not broadcast to ", x.getType());
  return success();
}

LogicalResult inferTrailing(std::optional<Location> location, Value x,
                            Value scale, int64_t axis, unsigned statistics,
                            SmallVectorImpl<Type> &types) {
  auto first = normalizeAxis(axis, rankOf(x));
  if (failed(first))
    return emitOptionalError(location, "axis ", axis, " lies outside rank ",
                             rankOf(x));
  if (failed(checkAffine(location, "scale", scale, x)))
    return failure();
  SmallVector<int64_t> kept(shapeOf(x));
  std::fill(kept.begin() + *first, kept.end(), 1);
  types.push_back(x.getType());
  types.append(statistics, RankedTensorType::get(kept, wideTypeOf(x)));
  return success();
}

} // namespace

LogicalResult LayerNormalizationOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (failed(inferTrailing(location, adaptor.getX(), adaptor.getScale(),
                           adaptor.getAxis(), 2, types)))
    return failure();
  if (Value bias = adaptor.getB()) {
    if (shapeOf(bias) != shapeOf(adaptor.getScale()))
      return emitOptionalError(location, "B ", bias.getType(),
                               " differs in shape from Scale ",
                               adaptor.getScale().getType());
  }
  return success();
}

LogicalResult
LayerNormalizationOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  HostNormalization values =
      evaluateNormalization(viewOf(*this), operands[0], operands[1],
                            operands.size() > 2 ? &operands[2] : nullptr);
  for (unsigned i = 0; i < 3; ++i)
    results.push_back(resultTensor(*this, i));
  results[0].floats = std::move(values.y);
  results[1].floats = std::move(values.mean);
  results[2].floats = std::move(values.inverseDeviation);
  return success();
}

SmallVector<Value> LayerNormalizationOp::buildVjp(ImplicitLocOpBuilder &b,
                                                  ValueRange grads) {
  SmallVector<Value> result = buildNormalizationVjp(
      b, viewOf(*this), {getX(), getScale(), getB(), getMean(), getInvStdDev()},
      grads[0], grads[1], grads[2]);
  result.resize(getNumOperands());
  return result;
}

SmallVector<Value> LayerNormalizationOp::decompose(ImplicitLocOpBuilder &b) {
  Normalized values =
      buildNormalization(b, viewOf(*this), getX(), getScale(), getB());
  return {toTypeOf(b, values.y, getY()), toTypeOf(b, values.mean, getMean()),
          toTypeOf(b, values.inverseDeviation, getInvStdDev())};
}

LogicalResult RMSNormalizationOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  return inferTrailing(location, adaptor.getX(), adaptor.getScale(),
                       adaptor.getAxis(), 1, types);
}

LogicalResult
RMSNormalizationOp::evaluate(ArrayRef<HostTensor> operands,
                             SmallVectorImpl<HostTensor> &results) {
  HostNormalization values =
      evaluateNormalization(viewOf(*this), operands[0], operands[1], nullptr);
  results.push_back(resultTensor(*this, 0));
  results.push_back(resultTensor(*this, 1));
  results[0].floats = std::move(values.y);
  results[1].floats = std::move(values.inverseDeviation);
  return success();
}

SmallVector<Value> RMSNormalizationOp::buildVjp(ImplicitLocOpBuilder &b,
                                                ValueRange grads) {
  SmallVector<Value> result = buildNormalizationVjp(
      b, viewOf(*this), {getX(), getScale(), Value(), Value(), getInvStdDev()},
      grads[0], Value(), grads[1]);
  result.resize(getNumOperands());
  return result;
}

SmallVector<Value> RMSNormalizationOp::decompose(ImplicitLocOpBuilder &b) {
  Normalized values =
      buildNormalization(b, viewOf(*this), getX(), getScale(), Value());
  return {toTypeOf(b, values.y, getY()),
          toTypeOf(b, values.inverseDeviation, getInvStdDev())};
}

} // namespace halftone::graph
