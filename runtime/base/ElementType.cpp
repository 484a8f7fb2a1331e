// SPDX-License-Identifier: Apache-2.0
// The table of element types and the small arithmetic of shapes.
#include "runtime/base/ElementType.h"

#include <array>

namespace halftone::runtime {

namespace {
struct Row {
  std::string_view name;
  size_t bytes;
  bool isFloat;
};

constexpr std::array<Row, 8> kRows{{
    {"unknown", 1, false},
    {"float32", 4, true},
    {"float16", 2, true},
    {"bfloat16", 2, true},
    {"int64", 8, false},
    {"int32", 4, false},
    {"bool", 1, false},
    {"uint8", 1, false},
}};

const Row &row(ElementType type) {
  return kRows[static_cast<size_t>(type) % kRows.size()];
}
} // namespace

size_t elementSize(ElementType type) { return row(type).bytes; }
std::string_view elementName(ElementType type) { return row(type).name; }
bool isFloat(ElementType type) { return row(type).isFloat; }

std::optional<uint64_t> elementCount(const Shape &shape) {
  uint64_t count = 1;
  for (int64_t dim : shape) {
    if (dim < 0 ||
        __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count))
      return std::nullopt;
  }
  return count;
}

std::string formatShape(const Shape &shape) {
  std::string text = "[";
  for (int64_t dim : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

} // namespace halftone::runtime
