// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Extreme.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Reduce.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {

int64_t integerLimit(Type type, bool greatest) {
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 1) // Booleans are not signed.
    return greatest;
  APInt limit = greatest ? APInt::getSignedMaxValue(bits)
                         : APInt::getSignedMinValue(bits);
  return limit.getSExtValue();
}

static Value emitLimit(ScalarBuilder &b, Type type, bool greatest) {
  if (isa<FloatType>(type)) {
    double infinity = std::numeric_limits<double>::infinity();
    return b.constant(greatest ? infinity : -infinity);
  }
  return b.constantInt(integerLimit(type, greatest), type);
}

Value emitLeast(ScalarBuilder &b, Type elementType) {
  return emitLimit(b, elementType, /*greatest=*/false);
}

Value emitGreatest(ScalarBuilder &b, Type elementType) {
  return emitLimit(b, elementType, /*greatest=*/true);
}

Value shareAmongEqual(ImplicitLocOpBuilder &b, Value data, Value extreme,
                      Value dy, ArrayRef<int64_t> axes) {
  dy = keepReducedAxes(b, dy, data, axes);
  Value equal =
      b.create<EqualOp>(data, keepReducedAxes(b, extreme, data, axes));
  Value ones = b.create<CastOp>(equal, elementTypeOf(dy));
  Value share = b.create<DivOp>(dy, b.create<ReduceSumOp>(ones, axes));
  return keepWhere(b, equal, share);
}

} // namespace halftone::graph
