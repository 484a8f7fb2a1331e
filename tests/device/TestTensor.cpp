// SPDX-License-Identifier: Apache-2.0
// Encoding goes through float32: every value is one of a float type.
#include "tests/device/TestTensor.h"

#include "runtime/base/Float16.h"
#include "runtime/base/Philox.h"

#include <cstring>

namespace halftone::runtime::test {

double rounded(ElementType type, double value) {
  float narrow = static_cast<float>(value);
  if (type == ElementType::F16)
    return float16ToFloat(floatToFloat16(narrow));
  if (type == ElementType::BF16)
    return bfloat16ToFloat(floatToBfloat16(narrow));
  return narrow;
}

TestTensor randomTensor(ElementType type, Shape shape, uint64_t seed) {
  TestTensor tensor{type, shape, {}};
  tensor.values.resize(*elementCount(shape));
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    uint32_t word = philoxBlock(seed, 0, i)[0];
    tensor.values[i] = rounded(type, word * 0x1p-31 - 1.0);
  }
  return tensor;
}

std::vector<std::byte> encode(const TestTensor &tensor) {
  size_t size = elementSize(tensor.type);
  std::vector<std::byte> bytes(tensor.values.size() * size);
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    float value = static_cast<float>(tensor.values[i]);
    uint16_t low = tensor.type == ElementType::F16 ? floatToFloat16(value)
                                                   : floatToBfloat16(value);
    const void *source = tensor.type == ElementType::F32
                             ? static_cast<const void *>(&value)
                             : &low;
    std::memcpy(bytes.data() + i * size, source, size);
  }
  return bytes;
}

TestTensor decode(ElementType type, Shape shape,
                  const std::vector<std::byte> &bytes) {
  TestTensor tensor{type, shape, {}};
  size_t size = elementSize(type);
  tensor.values.resize(*elementCount(shape));
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    float value = 0;
    uint16_t low = 0;
    std::memcpy(type == ElementType::F32 ? static_cast<void *>(&value) : &low,
                bytes.data() + i * size, size);
    if (type == ElementType::F16)
      value = float16ToFloat(low);
    if (type == ElementType::BF16)
      value = bfloat16ToFloat(low);
    tensor.values[i] = value;
  }
  return tensor;
}

} // namespace halftone::runtime::test
