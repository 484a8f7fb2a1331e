// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/BroadcastShape.h"
#include "compiler/graph/GraphDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace halftone::graph {

DenseElementsAttr splatAttr(RankedTensorType type, double value) {
  Type element = type.getElementType();
  if (auto floatType = dyn_cast<FloatType>(element))
    return DenseElementsAttr::get(type, FloatAttr::get(floatType, value));
  return DenseElementsAttr::get(type, APInt(element.getIntOrFloatBitWidth(),
                                            static_cast<int64_t>(value),
                                            /*isSigned=*/true));
}

Value full(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape, Type elementType,
           double value) {
  auto type = RankedTensorType::get(shape, elementType);
  return b.create<ConstantOp>(type, splatAttr(type, value));
}

Value scalar(ImplicitLocOpBuilder &b, double value) {
  return full(b, {}, b.getF32Type(), value);
}

Value scalarLike(ImplicitLocOpBuilder &b, Value like, double value) {
  return full(b, {}, elementTypeOf(like), value);
}

Value fullLike(ImplicitLocOpBuilder &b, Value like, double value) {
  return full(b, shapeOf(like), elementTypeOf(like), value);
}

std::optional<double> splatValue(Attribute attr) {
  auto dense = dyn_cast_if_present<DenseElementsAttr>(attr);
  if (!dense || !dense.isSplat())
    return std::nullopt;
  if (isa<FloatType>(dense.getElementType())) {
    APFloat value = dense.getSplatValue<APFloat>();
    bool lossy;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return value.convertToDouble();
  }
  APInt value = dense.getSplatValue<APInt>();
  return static_cast<double>(value.getBitWidth() == 1
                                 ? static_cast<int64_t>(value.getZExtValue())
                                 : value.getSExtValue());
}

std::optional<double> splatValue(Value v) {
  Attribute attr;
  if (!v || !matchPattern(v, m_Constant(&attr)))
    return std::nullopt;
  return splatValue(attr);
}

std::optional<SmallVector<int64_t>> constantInts(Value v) {
  DenseIntElementsAttr attr;
  if (!v || !matchPattern(v, m_Constant(&attr)))
    return std::nullopt;
  SmallVector<int64_t> ints;
  for (const APInt &i : attr.getValues<APInt>())
    ints.push_back(i.getSExtValue());
  return ints;
}

double numberOr(Attribute attr, double fallback) {
  if (auto number = dyn_cast_if_present<FloatAttr>(attr))
    return number.getValueAsDouble();
  if (auto number = dyn_cast_if_present<IntegerAttr>(attr))
    return number.getType().isInteger(1)
               ? static_cast<double>(number.getValue().getZExtValue())
               : static_cast<double>(number.getValue().getSExtValue());
  return fallback;
}

} // namespace halftone::graph
