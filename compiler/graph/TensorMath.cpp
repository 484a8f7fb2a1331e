// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/TensorMath.h"
#include "compiler/graph/Constants.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

Value keepWhere(ImplicitLocOpBuilder &b, Value condition, Value v) {
  return b.create<WhereOp>(condition, v, scalarLike(b, v, 0));
}

Value isGreater(ImplicitLocOpBuilder &b, Value x, double bound) {
  return b.create<GreaterOp>(x, scalarLike(b, x, bound));
}
Value isLess(ImplicitLocOpBuilder &b, Value x, double bound) {
  return b.create<LessOp>(x, scalarLike(b, x, bound));
}
Value isEqual(ImplicitLocOpBuilder &b, Value x, double number) {
  return b.create<EqualOp>(x, scalarLike(b, x, number));
}

Value plus(ImplicitLocOpBuilder &b, Value x, double number) {
  return b.create<AddOp>(x, scalarLike(b, x, number));
}
Value times(ImplicitLocOpBuilder &b, Value x, double number) {
  return b.create<MulOp>(x, scalarLike(b, x, number));
}

} // namespace halftone::graph
