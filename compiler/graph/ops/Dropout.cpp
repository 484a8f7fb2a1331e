// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {
namespace {

constexpr double kDefaultRatio = 0.5;

} // namespace

LogicalResult DropoutOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  double ratio = numberOr(adaptor.getRatioAttr(), kDefaultRatio);
  if (!(ratio >= 0 && ratio <= 1))
    return emitOptionalError(location, "ratio ", ratio, " lies outside [0, 1]");
  auto data = cast<RankedTensorType>(adaptor.getData().getType());
  types.push_back(data);
  types.push_back(
      RankedTensorType::get(data.getShape(), IntegerType::get(context, 1)));
  return success();
}

double DropoutOp::getDropRatio() {
  return numberOr(getRatioAttr(), kDefaultRatio);
}

bool DropoutOp::isTraining() {
  return numberOr(getTrainingModeAttr(), 0) != 0 && getDropRatio() > 0;
}

LogicalResult DropoutOp::evaluate(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  if (isTraining())
    return emitOpError("in training mode needs random numbers");
  HostTensor mask = resultTensor(*this, 1);
  std::fill(mask.ints.begin(), mask.ints.end(), 1);
  results.push_back(operands[0]);
  results.push_back(std::move(mask));
  return success();
}

SmallVector<Value> DropoutOp::decompose(ImplicitLocOpBuilder &b) {
  return {getData(), fullLike(b, getMask(), 1)};
}

SmallVector<Value> DropoutOp::buildVjp(ImplicitLocOpBuilder &,
                                       ValueRange grads) {
  return {grads[0]};
}

// No value where the op is not random.
Value DropoutOp::buildTraining(ImplicitLocOpBuilder &b, Value seed, Value step,
                               int64_t nodeId) {
  if (!isTraining())
    return {};
  Value mask = b.create<DropoutMaskOp>(
      seed, step, nodeId, APFloat(static_cast<float>(getDropRatio())),
      shapeOf(getData()));
  if (!getMask().use_empty())
    getMask().replaceAllUsesWith(isGreater(b, mask, 0));
  return b.create<MulOp>(getData(), mask);
}

LogicalResult DropoutOp::canonicalize(DropoutOp op, PatternRewriter &rewriter) {
  if (op.isTraining())
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  rewriter.replaceOp(op, op.decompose(b));
  return success();
}

} // namespace halftone::graph
