// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/ops/Composite.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

Value widen(ImplicitLocOpBuilder &b, Value x) {
  Type element = elementTypeOf(x);
  return element.isF16() || element.isBF16()
             ? b.create<CastOp>(x, b.getF32Type()).getResult()
             : x;
}

Value toTypeOf(ImplicitLocOpBuilder &b, Value v, Value like) {
  Type element = elementTypeOf(like);
  return elementTypeOf(v) == element ? v
                                     : b.create<CastOp>(v, element).getResult();
}

Type wideTypeOf(Value like) {
  Type element = elementTypeOf(like);
  return element.isF64() ? element
                         : Type(Float32Type::get(element.getContext()));
}

Value sumOver(ImplicitLocOpBuilder &b, Value x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : b.create<ReduceSumOp>(x, axes).getResult();
}
Value meanOver(ImplicitLocOpBuilder &b, Value x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : b.create<ReduceMeanOp>(x, axes).getResult();
}
Value maxOver(ImplicitLocOpBuilder &b, Value x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : b.create<ReduceMaxOp>(x, axes).getResult();
}

Value sumTo(ImplicitLocOpBuilder &b, Value x, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> axes;
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (extent == 1 && shapeOf(x)[axis] != 1)
      axes.push_back(static_cast<int64_t>(axis));
  return sumOver(b, x, axes);
}

} // namespace halftone::graph
