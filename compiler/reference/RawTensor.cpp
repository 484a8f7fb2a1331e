// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/RawTensor.h"
#include "llvm/ADT/APFloat.h"
#include <cstring>

using namespace mlir;

namespace halftone::reference {

std::optional<size_t> storedSize(Type elementType) {
  if (!elementType.isIntOrFloat())
    return std::nullopt;
  unsigned bits = elementType.getIntOrFloatBitWidth();
  if (bits == 1)
    return 1;
  if (bits % 8 != 0 || bits > 64)
    return std::nullopt;
  return bits / 8;
}

FailureOr<HostTensor> decodeRaw(RankedTensorType type,
                                ArrayRef<std::byte> bytes) {
  auto size = storedSize(type.getElementType());
  if (!size || !type.hasStaticShape() ||
      bytes.size() != *size * static_cast<size_t>(type.getNumElements()))
    return failure();
  HostTensor tensor(type);
  auto floatType = dyn_cast<FloatType>(type.getElementType());
  bool isUnsigned = type.getElementType().isUnsignedInteger() || *size == 1;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * *size, *size);
    APInt integer(static_cast<unsigned>(*size * 8), bits);
    if (floatType) {
      APFloat value(floatType.getFloatSemantics(), integer);
      bool lossy;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &lossy);
      tensor.floats[i] = value.convertToDouble();
    } else {
      tensor.ints[i] = isUnsigned
                           ? integer.getZExtValue()
                           : static_cast<uint64_t>(integer.getSExtValue());
    }
  }
  return tensor;
}

FailureOr<std::vector<std::byte>> encodeRaw(const HostTensor &tensor) {
  auto size = storedSize(tensor.getElementType());
  if (!size)
    return failure();
  std::vector<std::byte> bytes(*size * static_cast<size_t>(tensor.size()));
  auto floatType = dyn_cast<FloatType>(tensor.getElementType());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits;
    if (floatType) {
      APFloat value(tensor.floats[i]);
      bool lossy;
      value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &lossy);
      bits = value.bitcastToAPInt().getZExtValue();
    } else {
      bits = static_cast<uint64_t>(tensor.ints[i]);
    }
    std::memcpy(bytes.data() + i * *size, &bits, *size);
  }
  return bytes;
}

} // namespace halftone::reference
