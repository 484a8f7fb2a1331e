// SPDX-License-Identifier: Apache-2.0
// The .npy format: a Python dictionary as header, then the data.
#include "runtime/data/Npy.h"

#include "runtime/base/File.h"

#include <cstring>

namespace halftone::runtime {

namespace {
constexpr std::string_view kMagic("\x93NUMPY", 6);

Status notNpy() { return invalidInput("not a valid .npy array"); }

/// The text after `key` and its colon in the header's dictionary.
std::optional<std::string_view> field(std::string_view header,
                                      std::string_view key) {
  for (char quote : {'\'', '"'}) {
    std::string pattern = quote + std::string(key) + quote;
    size_t at = header.find(pattern);
    if (at == std::string_view::npos)
      continue;
    std::string_view rest = header.substr(at + pattern.size());
    size_t start = rest.find_first_not_of(": ");
    if (start != std::string_view::npos)
      return rest.substr(start);
  }
  return std::nullopt;
}

Result<DataType> parseType(std::string_view text) {
  if (text.empty() || (text[0] != '\'' && text[0] != '"'))
    return invalidInput("arrays of records are not supported");
  size_t end = text.find(text[0], 1);
  if (end == std::string_view::npos || end < 3)
    return notNpy();
  std::string_view name = text.substr(1, end - 1);
  std::optional<DataType> type = fromNpyName(name.substr(1));
  if (!type || (name[0] != '<' && name[0] != '|' && name[0] != '='))
    return invalidInput("element type '" + std::string(name) +
                        "' is not supported");
  return *type;
}

std::optional<Shape> parseShape(std::string_view text) {
  Shape shape;
  size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string_view::npos)
    return std::nullopt;
  text = text.substr(1, close - 1);
  int64_t value = -1;
  for (char c : text) {
    if (c >= '0' && c <= '9') {
      if (value > INT64_MAX / 10 - 10)
        return std::nullopt;
      value = std::max<int64_t>(value, 0) * 10 + (c - '0');
    } else if (c == ',') {
      if (value < 0)
        return std::nullopt;
      shape.push_back(std::exchange(value, -1));
    } else if (c != ' ' && c != 'L') {
      return std::nullopt;
    }
  }
  if (value >= 0)
    shape.push_back(value);
  return shape;
}

/// Column-major data in row-major order.
std::vector<std::byte> transposed(std::span<const std::byte> data,
                                  const Shape &shape, size_t size) {
  std::vector<std::byte> result(data.size());
  size_t count = data.size() / size;
  Shape index(shape.size(), 0);
  for (size_t i = 0; i < count; ++i) {
    size_t position = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      position = position * shape[d] + index[d];
    std::memcpy(&result[position * size], &data[i * size], size);
    for (size_t d = 0; d < shape.size() && ++index[d] == shape[d]; ++d)
      index[d] = 0;
  }
  return result;
}
} // namespace

Result<HostArray> parseNpy(std::span<const std::byte> content,
                           std::shared_ptr<const void> owner) {
  std::string_view text(reinterpret_cast<const char *>(content.data()),
                        content.size());
  if (text.size() < 10 || text.substr(0, 6) != kMagic)
    return notNpy();
  bool isLong = text[6] != 1;
  size_t start = isLong ? 12 : 10;
  uint32_t length = 0;
  if (text.size() < start)
    return notNpy();
  std::memcpy(&length, text.data() + 8, isLong ? 4 : 2);
  if (length > text.size() - start)
    return notNpy();
  std::string_view header = text.substr(start, length);
  auto descr = field(header, "descr"), order = field(header, "fortran_order"),
       dims = field(header, "shape");
  if (!descr || !order || !dims)
    return notNpy();
  Result<DataType> type = parseType(*descr);
  HALFTONE_RETURN_IF_ERROR(type);
  std::optional<Shape> shape = parseShape(*dims);
  std::optional<uint64_t> count = shape ? elementCount(*shape) : std::nullopt;
  if (!count)
    return notNpy();
  std::span<const std::byte> data = content.subspan(start + length);
  size_t size = dataTypeSize(*type);
  if (*count > data.size() / size)
    return invalidInput(
        "the .npy array is cut short: " + describe(*type, *shape) + " needs " +
        std::to_string(*count * size) + " bytes, " +
        std::to_string(data.size()) + " are there");
  data = data.first(*count * size);
  if (order->starts_with("True") && shape->size() > 1)
    return makeArray(*type, *shape, transposed(data, *shape, size));
  return HostArray{*type, *shape, data, std::move(owner)};
}

std::string npyHeader(DataType type, const Shape &shape) {
  std::string dims;
  for (int64_t dim : shape)
    dims += std::to_string(dim) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1)
    dims.resize(dims.size() - 2);
  std::string dictionary =
      "{'descr': '" + std::string(dataTypeSize(type) == 1 ? "|" : "<") +
      std::string(npyName(type)) + "', 'fortran_order': False, 'shape': (" +
      dims + "), }";
  // The data start at a multiple of 64 bytes.
  dictionary.append(63 - (10 + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  uint16_t length = static_cast<uint16_t>(dictionary.size());
  std::string header = std::string(kMagic) + '\x01' + '\0';
  header.append(reinterpret_cast<const char *>(&length), 2);
  return header + dictionary;
}

Result<HostArray> readNpy(const std::filesystem::path &path) {
  Result<MappedFile> file = MappedFile::open(path);
  HALFTONE_RETURN_IF_ERROR(file);
  Result<HostArray> array =
      parseNpy(file->bytes(), std::make_shared<MappedFile>(*file));
  HALFTONE_RETURN_IF_ERROR(withContext(path.string(), array.status()));
  return array;
}

} // namespace halftone::runtime
