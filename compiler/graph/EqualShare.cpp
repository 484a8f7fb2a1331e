// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/EqualShare.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

Value shareAmongEqual(ImplicitLocOpBuilder &b, Value data, Value extreme,
                      Value dy, ArrayRef<int64_t> axes) {
  Value equal = b.create<EqualOp>(data, extreme);
  Value ones = b.create<CastOp>(equal, elementTypeOf(dy));
  Value share = b.create<DivOp>(dy, b.create<ReduceSumOp>(ones, axes));
  return keepWhere(b, equal, share);
}

} // namespace halftone::graph
