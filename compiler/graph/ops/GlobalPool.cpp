// SPDX-License-Identifier: Apache-2.0
// Pools over all spatial axes: reductions that keep those axes.
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/WrappingInteger.h"
#include <cmath>

using namespace mlir;

namespace halftone::graph {
namespace {

SmallVector<int64_t> spatialAxes(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(2, rankOf(x)));
}

LogicalResult inferGlobalPool(std::optional<Location> location, Value x,
                              SmallVectorImpl<Type> &types) {
  if (rankOf(x) < 3)
    return emitOptionalError(location, "pooling needs spatial axes, got ",
                             x.getType());
  return inferReduction(location, x, ArrayRef<int64_t>(spatialAxes(x)),
                        /*keepdims=*/true, /*noop=*/false, types);
}

} // namespace

LogicalResult GlobalAveragePoolOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  return inferGlobalPool(location, adaptor.getX(), types);
}

LogicalResult
GlobalAveragePoolOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  return evaluateReduction(
      *this, operands[0], spatialAxes(getX()), results, 0.0,
      [](auto sum, auto x) { return wrappingAdd(sum, x); },
      [](auto sum, int64_t count) {
        return sum / static_cast<decltype(sum)>(count);
      });
}

SmallVector<Value> GlobalAveragePoolOp::decompose(ImplicitLocOpBuilder &b) {
  return {b.create<ReduceMeanOp>(getX(),
                                 b.getDenseI64ArrayAttr(spatialAxes(getX())))};
}

LogicalResult GlobalMaxPoolOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  return inferGlobalPool(location, adaptor.getX(), types);
}

LogicalResult GlobalMaxPoolOp::evaluate(ArrayRef<HostTensor> operands,
                                        SmallVectorImpl<HostTensor> &results) {
  auto larger = [](auto a, auto x) { return std::isnan(a) || a > x ? a : x; };
  return evaluateReduction(*this, operands[0], spatialAxes(getX()), results,
                           -std::numeric_limits<double>::infinity(), larger,
                           [](auto max, int64_t) { return max; });
}

SmallVector<Value> GlobalMaxPoolOp::decompose(ImplicitLocOpBuilder &b) {
  return {b.create<ReduceMaxOp>(getX(),
                                b.getDenseI64ArrayAttr(spatialAxes(getX())))};
}

} // namespace halftone::graph
