// SPDX-License-Identifier: Apache-2.0
// The element types of tensors in plans, weights and data, in one table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::runtime {

/// Numbered as in plan.proto.
enum class ElementType : uint8_t {
  F32 = 1,
  F16 = 2,
  BF16 = 3,
  I64 = 4,
  I32 = 5,
  Bool = 6,
  U8 = 7
};

/// Bytes of one element.
size_t elementSize(ElementType type);

/// The name in messages: float32, float16, bfloat16, int64, int32, bool, uint8.
std::string_view elementName(ElementType type);

bool isFloat(ElementType type);

using Shape = std::vector<int64_t>;

/// Product of the dimensions (1 for a scalar); none where it overflows or a
/// dimension is negative.
std::optional<uint64_t> elementCount(const Shape &shape);

/// "[2, 3]"; "[]" for a scalar.
std::string formatShape(const Shape &shape);

} // namespace halftone::runtime
