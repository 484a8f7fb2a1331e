// SPDX-License-Identifier: Apache-2.0
// Arrays as files hold them: more element types than plans have, dense
// row-major, kept alive by what they came from.
#pragma once

#include "runtime/base/ElementType.h"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halftone::runtime {

/// The element types of .npy and .safetensors files.
enum class DataType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  Bool,
};

size_t dataTypeSize(DataType type);
/// The name in messages: float64, int16, ...
std::string_view dataTypeName(DataType type);
/// The name in safetensors headers: F64, I16, ...
std::string_view safetensorsName(DataType type);
/// The kind and size in npy headers ("f8", "i2"); empty for bfloat16, which npy
/// lacks.
std::string_view npyName(DataType type);
std::optional<DataType> fromSafetensorsName(std::string_view name);
std::optional<DataType> fromNpyName(std::string_view name);

DataType toDataType(ElementType type);
/// None for types that plans lack.
std::optional<ElementType> toElementType(DataType type);

struct HostArray {
  DataType type = DataType::F32;
  Shape shape;
  std::span<const std::byte>
      bytes; ///< Row-major, as many as shape and type say.
  std::shared_ptr<const void> owner;
};

/// An array that owns its bytes.
HostArray makeArray(DataType type, Shape shape, std::vector<std::byte> bytes);

/// "float32 [32, 784]".
std::string describe(const HostArray &array);
std::string describe(DataType type, const Shape &shape);

using ArrayMap = std::map<std::string, HostArray>;

} // namespace halftone::runtime
