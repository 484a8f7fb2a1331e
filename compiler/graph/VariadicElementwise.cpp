// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/VariadicElementwise.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

SmallVector<Value> shareAmongTies(ImplicitLocOpBuilder &b, ValueRange operands,
                                  Value extreme, Value dy) {
  if (operands.size() == 1)
    return {dy};
  SmallVector<Value> masks, shares;
  Value count;
  for (Value x : operands) {
    masks.push_back(b.create<EqualOp>(x, extreme));
    Value one = b.create<CastOp>(masks.back(), elementTypeOf(dy));
    count = count ? b.create<AddOp>(count, one).getResult() : one;
  }
  Value share = b.create<DivOp>(dy, count);
  for (Value mask : masks)
    shares.push_back(keepWhere(b, mask, share));
  return shares;
}

} // namespace halftone::graph
