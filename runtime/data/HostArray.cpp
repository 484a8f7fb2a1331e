// SPDX-License-Identifier: Apache-2.0
// The table of file element types.
#include "runtime/data/HostArray.h"

#include <array>

namespace halftone::runtime {

namespace {
struct Row {
  std::string_view name, safetensors, npy;
  size_t bytes;
  std::optional<ElementType> element;
};

const std::array<Row, 13> &rows() {
  static const std::array<Row, 13> table{{
      {"float64", "F64", "f8", 8, std::nullopt},
      {"float32", "F32", "f4", 4, ElementType::F32},
      {"float16", "F16", "f2", 2, ElementType::F16},
      {"bfloat16", "BF16", "", 2, ElementType::BF16},
      {"int64", "I64", "i8", 8, ElementType::I64},
      {"int32", "I32", "i4", 4, ElementType::I32},
      {"int16", "I16", "i2", 2, std::nullopt},
      {"int8", "I8", "i1", 1, std::nullopt},
      {"uint64", "U64", "u8", 8, std::nullopt},
      {"uint32", "U32", "u4", 4, std::nullopt},
      {"uint16", "U16", "u2", 2, std::nullopt},
      {"uint8", "U8", "u1", 1, ElementType::U8},
      {"bool", "BOOL", "b1", 1, ElementType::Bool},
  }};
  return table;
}

const Row &row(DataType type) { return rows()[static_cast<size_t>(type)]; }

template <typename Match> std::optional<DataType> find(const Match &match) {
  for (size_t i = 0; i < rows().size(); ++i)
    if (match(rows()[i]))
      return static_cast<DataType>(i);
  return std::nullopt;
}
} // namespace

size_t dataTypeSize(DataType type) { return row(type).bytes; }
std::string_view dataTypeName(DataType type) { return row(type).name; }
std::string_view safetensorsName(DataType type) {
  return row(type).safetensors;
}
std::string_view npyName(DataType type) { return row(type).npy; }

std::optional<DataType> fromSafetensorsName(std::string_view name) {
  return find([&](const Row &row) { return row.safetensors == name; });
}

std::optional<DataType> fromNpyName(std::string_view name) {
  return find([&](const Row &row) { return row.npy == name && !name.empty(); });
}

DataType toDataType(ElementType type) {
  return *find([&](const Row &row) { return row.element == type; });
}

std::optional<ElementType> toElementType(DataType type) {
  return row(type).element;
}

HostArray makeArray(DataType type, Shape shape, std::vector<std::byte> bytes) {
  auto owned = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {type, std::move(shape), {owned->data(), owned->size()}, owned};
}

std::string describe(DataType type, const Shape &shape) {
  return std::string(dataTypeName(type)) + " " + formatShape(shape);
}

std::string describe(const HostArray &array) {
  return describe(array.type, array.shape);
}

} // namespace halftone::runtime
