// SPDX-License-Identifier: Apache-2.0
#include "compiler/interfaces/HostTensor.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace halftone {

HostTensor::HostTensor(RankedTensorType type) : type(type) {
  if (isFloat())
    floats.resize(size());
  else
    ints.resize(size());
}

bool HostTensor::isFloat() const {
  return isa<FloatType>(type.getElementType());
}

std::optional<HostTensor> HostTensor::fromAttr(ElementsAttr attr) {
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  auto type = dyn_cast<RankedTensorType>(attr.getType());
  if (!dense || !type)
    return std::nullopt;
  HostTensor result(type);
  int64_t i = 0;
  if (result.isFloat()) {
    for (APFloat value : dense.getValues<APFloat>()) {
      bool lossy;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &lossy);
      result.floats[i++] = value.convertToDouble();
    }
    return result;
  }
  bool isUnsigned = type.getElementType().isInteger(1) ||
                    type.getElementType().isUnsignedInteger();
  for (APInt value : dense.getValues<APInt>())
    result.ints[i++] = isUnsigned ? value.getZExtValue() : value.getSExtValue();
  return result;
}

DenseElementsAttr HostTensor::toAttr() const {
  Type element = getElementType();
  if (auto floatType = dyn_cast<FloatType>(element)) {
    std::vector<APFloat> values;
    values.reserve(floats.size());
    for (double d : floats) {
      APFloat value(d);
      bool lossy;
      value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &lossy);
      values.push_back(value);
    }
    return DenseElementsAttr::get(type, values);
  }
  std::vector<APInt> values;
  values.reserve(ints.size());
  for (int64_t i : ints)
    values.push_back(
        APInt(element.getIntOrFloatBitWidth(), i, /*isSigned=*/true));
  return DenseElementsAttr::get(type, values);
}

double HostTensor::asDouble(int64_t i) const {
  return isFloat() ? floats[i] : static_cast<double>(ints[i]);
}
int64_t HostTensor::asInt(int64_t i) const {
  return isFloat() ? static_cast<int64_t>(floats[i]) : ints[i];
}

void HostTensor::set(int64_t i, double value) {
  if (isFloat())
    floats[i] = value;
  else
    ints[i] = static_cast<int64_t>(value);
}
void HostTensor::set(int64_t i, int64_t value) {
  if (isFloat())
    floats[i] = static_cast<double>(value);
  else
    ints[i] = value;
}

double roundTo(double value, Type elementType) {
  auto floatType = dyn_cast<FloatType>(elementType);
  if (!floatType || floatType.isF64())
    return value;
  if (floatType.isF32())
    return static_cast<float>(value);
  APFloat narrow(value);
  bool lossy;
  narrow.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &lossy);
  narrow.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return narrow.convertToDouble();
}

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

bool nextIndex(MutableArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
    if (++index[d] < shape[d])
      return true;
    index[d] = 0;
  }
  return false;
}

int64_t broadcastOffset(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t offset = 0, stride = 1,
          skip = static_cast<int64_t>(index.size()) -
                 static_cast<int64_t>(shape.size());
  for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
    offset += (shape[d] == 1 ? 0 : index[d + skip]) * stride;
    stride *= shape[d];
  }
  return offset;
}

} // namespace halftone
