// SPDX-License-Identifier: Apache-2.0
// Element conversions, by copy of whole runs.
#include "runtime/data/Convert.h"

#include "runtime/base/Float16.h"

#include <cstring>

namespace halftone::runtime {

namespace {
template <typename From, typename To>
void convertRun(const std::byte *source, std::byte *destination,
                uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, source + i * sizeof value, sizeof value);
    To result = static_cast<To>(value);
    std::memcpy(destination + i * sizeof result, &result, sizeof result);
  }
}

template <typename T> T elementAt(const HostArray &array, uint64_t index) {
  T value;
  std::memcpy(&value, array.bytes.data() + index * sizeof value, sizeof value);
  return value;
}

float floatAt(const HostArray &array, uint64_t index) {
  switch (array.type) {
  case DataType::F64:
    return static_cast<float>(elementAt<double>(array, index));
  case DataType::F16:
    return float16ToFloat(elementAt<uint16_t>(array, index));
  case DataType::BF16:
    return bfloat16ToFloat(elementAt<uint16_t>(array, index));
  default:
    return elementAt<float>(array, index);
  }
}
} // namespace

bool isConvertible(DataType from, ElementType to) {
  if (toElementType(from) == to)
    return true;
  switch (from) {
  case DataType::F64:
  case DataType::U8:
    return to == ElementType::F32;
  case DataType::I64:
    return to == ElementType::I32;
  case DataType::I32:
    return to == ElementType::I64;
  default:
    return false;
  }
}

void convertElements(DataType from, const std::byte *source, ElementType to,
                     std::byte *destination, uint64_t count) {
  if (toElementType(from) == to)
    std::memcpy(destination, source, count * elementSize(to));
  else if (from == DataType::F64)
    convertRun<double, float>(source, destination, count);
  else if (from == DataType::U8)
    convertRun<uint8_t, float>(source, destination, count);
  else if (from == DataType::I64)
    convertRun<int64_t, int32_t>(source, destination, count);
  else
    convertRun<int32_t, int64_t>(source, destination, count);
}

int64_t integerAt(const HostArray &array, uint64_t index) {
  switch (array.type) {
  case DataType::I64:
  case DataType::U64:
    return elementAt<int64_t>(array, index);
  case DataType::I32:
    return elementAt<int32_t>(array, index);
  case DataType::U32:
    return elementAt<uint32_t>(array, index);
  case DataType::I16:
    return elementAt<int16_t>(array, index);
  case DataType::U16:
    return elementAt<uint16_t>(array, index);
  case DataType::I8:
    return elementAt<int8_t>(array, index);
  default:
    return elementAt<uint8_t>(array, index);
  }
}

bool isInteger(DataType type) {
  return type != DataType::F64 && type != DataType::F32 &&
         type != DataType::F16 && type != DataType::BF16;
}

std::vector<float> toFloats(const HostArray &array) {
  std::vector<float> values(array.bytes.size() / dataTypeSize(array.type));
  for (uint64_t i = 0; i < values.size(); ++i)
    values[i] = floatAt(array, i);
  return values;
}

} // namespace halftone::runtime
