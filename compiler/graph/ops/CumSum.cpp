// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {
namespace {

/// Whether element `j` of a line belongs to the sum at `place`.
bool counts(int64_t place, int64_t j, bool exclusive, bool reverse) {
  if (j == place)
    return !exclusive;
  return reverse ? j > place : j < place;
}

} // namespace

LogicalResult CumSumOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (failed(normalizeAxis(adaptor.getAxis(), rankOf(adaptor.getX()))))
    return emitOptionalError(location, "axis ", adaptor.getAxis(),
                             " lies outside ", adaptor.getX().getType());
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult CumSumOp::evaluate(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(*this);
  int64_t axis = *normalizeAxis(getAxis(), out.getRank()),
          extent = out.getShape()[axis];
  int64_t stride = rowMajorStrides(out.getShape())[axis];
  for (int64_t i = 0; i < out.size(); ++i) {
    int64_t place = i / stride % extent, first = i - place * stride;
    for (int64_t j = 0; j < extent; ++j) {
      if (!counts(place, j, getExclusive(), getReverse()))
        continue;
      if (out.isFloat())
        out.floats[i] += operands[0].floats[first + j * stride];
      else
        out.ints[i] =
            wrappingAdd(out.ints[i], operands[0].ints[first + j * stride]);
    }
  }
  results.push_back(std::move(out));
  return success();
}

bool CumSumOp::isIndexMap() { return false; }

Value CumSumOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getX()));
  Value zero = emitZero(b, elementTypeOf(getY())), place = index[axis];
  return b.loop({shapeOf(getX())[axis]}, zero, [&](ValueRange j, Value sum) {
    SmallVector<Value> source(index);
    source[axis] = j[0];
    Compare order =
        getReverse()
            ? (getExclusive() ? Compare::Greater : Compare::GreaterOrEqual)
            : (getExclusive() ? Compare::Less : Compare::LessOrEqual);
    Value counted = b.compare(order, j[0], place);
    return b.add(sum, b.select(counted, b.load(0, source), zero));
  });
}

SmallVector<Value> CumSumOp::buildVjp(ImplicitLocOpBuilder &b,
                                      ValueRange grads) {
  return {
      b.create<CumSumOp>(grads[0], getAxis(), getExclusive(), !getReverse())};
}

} // namespace halftone::graph
