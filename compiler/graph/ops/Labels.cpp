// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/ops/Labels.h"
#include "compiler/graph/Constants.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/ops/Composite.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult checkLabels(std::optional<Location> location, Value scores,
                          Value target, int64_t axis) {
  SmallVector<int64_t> expected(shapeOf(scores));
  expected.erase(expected.begin() + axis);
  if (shapeOf(target) != ArrayRef<int64_t>(expected))
    return emitOptionalError(location, "labels ", target.getType(),
                             " should have the shape [", expected,
                             "], that of ", scores.getType(),
                             " without class axis ", axis);
  return success();
}

Labels buildLabels(ImplicitLocOpBuilder &b, Value scores, Value target,
                   int64_t axis, std::optional<int64_t> ignoreIndex) {
  SmallVector<int64_t> kept(shapeOf(scores)), classes(kept.size(), 1);
  classes[axis] = kept[axis];
  kept[axis] = 1;
  if (!elementTypeOf(target).isInteger(64))
    target = b.create<CastOp>(target, b.getI64Type());
  Value label = reshapeTo(b, target, kept),
        iota = b.create<IotaOp>(classes, axis);
  Value valid;
  if (ignoreIndex)
    valid = b.create<NotEqualOp>(
        label, scalarLike(b, label, static_cast<double>(*ignoreIndex)));
  else
    valid = full(b, kept, b.getI1Type(), 1);
  return {b.create<EqualOp>(iota, label), valid};
}

Value asNumber(ImplicitLocOpBuilder &b, Value condition) {
  return b.create<CastOp>(condition, b.getF32Type());
}

Value total(ImplicitLocOpBuilder &b, Value x) {
  return reshapeTo(
      b, sumOver(b, x, llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)))), {});
}

LogicalResult
forEachLabel(Operation *op, const HostTensor &scores, const HostTensor &target,
             int64_t axis, std::optional<int64_t> ignoreIndex,
             function_ref<void(int64_t, int64_t, int64_t, int64_t)> fn) {
  int64_t classes = scores.getShape()[axis],
          stride = rowMajorStrides(scores.getShape())[axis];
  for (int64_t i = 0; i < target.size(); ++i) {
    int64_t label = target.ints[i];
    if (ignoreIndex && label == *ignoreIndex)
      continue;
    if (label < 0 || label >= classes)
      return op->emitOpError("label ")
             << label << " at position " << i << " lies outside the " << classes
             << " classes";
    fn(i, label, i / stride * stride * classes + i % stride, stride);
  }
  return success();
}

} // namespace halftone::graph
