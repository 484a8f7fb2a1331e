// SPDX-License-Identifier: Apache-2.0
#include "passes/autodiff/GradientMap.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {

static Value mark(Value v, StringRef what) {
  v.getDefiningOp()->setAttr(kGenerated, StringAttr::get(v.getContext(), what));
  return v;
}

Value sumToShape(ImplicitLocOpBuilder &b, Value gradient,
                 ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(gradient);
  if (from == shape)
    return gradient;
  // Axes that broadcasting added or stretched.
  SmallVector<int64_t> axes;
  int64_t added =
      static_cast<int64_t>(from.size()) - static_cast<int64_t>(shape.size());
  for (int64_t d = 0; d < static_cast<int64_t>(from.size()); ++d)
    if (d < added || (shape[d - added] == 1 && from[d] != 1))
      axes.push_back(d);
  if (llvm::any_of(axes, [&](int64_t d) { return from[d] != 1; }))
    gradient = mark(b.create<ReduceSumOp>(
                        gradient, b.getDenseI64ArrayAttr(axes), /*keepdims=*/1),
                    "reduction");
  if (shapeOf(gradient) != shape)
    gradient = mark(b.create<ReshapeOp>(gradient, shape), "reduction");
  return gradient;
}

void GradientMap::accumulate(ImplicitLocOpBuilder &b, Value value,
                             Value gradient) {
  gradient = sumToShape(b, gradient, shapeOf(value));
  Value &sum = gradients[value];
  sum = sum ? mark(b.create<AddOp>(sum, gradient), "sum") : gradient;
}

} // namespace halftone::passes
