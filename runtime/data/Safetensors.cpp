// SPDX-License-Identifier: Apache-2.0
// Reading and writing of safetensors files.
#include "runtime/data/Safetensors.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace halftone::runtime {

namespace {
using Json = nlohmann::ordered_json;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

Status damaged(const std::string &what) {
  return invalidInput("not a valid safetensors file: " + what);
}

bool isUnsigned(const Json &value) { return value.is_number_unsigned(); }

Result<HostArray> parseTensor(const std::string &name, const Json &entry,
                              std::span<const std::byte> data) {
  std::string what = "tensor '" + name + "' ";
  if (!entry.is_object() || !entry.contains("dtype") ||
      !entry["dtype"].is_string() || !entry.contains("shape") ||
      !entry["shape"].is_array() || !entry.contains("data_offsets") ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
    return damaged(what + "lacks its type, shape or place");
  std::string dtype = entry["dtype"].get<std::string>();
  std::optional<DataType> type = fromSafetensorsName(dtype);
  if (!type)
    return invalidInput(what + "has the unsupported element type " + dtype);
  HostArray array;
  array.type = *type;
  for (const Json &dim : entry["shape"]) {
    if (!isUnsigned(dim) || dim.get<uint64_t>() > INT64_MAX)
      return damaged(what + "has an impossible shape");
    array.shape.push_back(dim.get<int64_t>());
  }
  const Json &begin = entry["data_offsets"][0], &end = entry["data_offsets"][1];
  std::optional<uint64_t> count = elementCount(array.shape);
  if (!count || !isUnsigned(begin) || !isUnsigned(end) ||
      begin.get<uint64_t>() > end.get<uint64_t>() ||
      end.get<uint64_t>() > data.size())
    return damaged(what + "lies outside the file; is it cut short?");
  uint64_t length = end.get<uint64_t>() - begin.get<uint64_t>();
  size_t size = dataTypeSize(*type);
  if (length % size != 0 || *count != length / size)
    return damaged(what + "has other bytes than its shape says");
  array.bytes = data.subspan(begin.get<uint64_t>(), length);
  return array;
}
} // namespace

Result<SafetensorsFile>
parseSafetensors(std::span<const std::byte> content,
                 const std::shared_ptr<const void> &owner) {
  uint64_t length = 0;
  if (content.size() < sizeof length)
    return damaged("too short");
  std::memcpy(&length, content.data(), sizeof length);
  content = content.subspan(sizeof length);
  if (length > content.size() || length > kMaxHeaderBytes)
    return damaged("its header is longer than the file");
  auto *text = reinterpret_cast<const char *>(content.data());
  Json header = Json::parse(text, text + length, nullptr, false);
  if (!header.is_object())
    return damaged("its header is not JSON");
  SafetensorsFile file;
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__") {
      for (const auto &[key, value] : entry.items())
        if (value.is_string())
          file.metadata[key] = value.get<std::string>();
      continue;
    }
    Result<HostArray> array = parseTensor(name, entry, content.subspan(length));
    HALFTONE_RETURN_IF_ERROR(array);
    array->owner = owner;
    file.arrays.insert_or_assign(name, std::move(*array));
  }
  return file;
}

Result<SafetensorsFile> readSafetensors(const std::filesystem::path &path) {
  Result<MappedFile> file = MappedFile::open(path);
  HALFTONE_RETURN_IF_ERROR(file);
  Result<SafetensorsFile> parsed =
      parseSafetensors(file->bytes(), std::make_shared<MappedFile>(*file));
  HALFTONE_RETURN_IF_ERROR(withContext(path.string(), parsed.status()));
  return parsed;
}

SafetensorsEntry makeEntry(std::string name, DataType type, Shape shape,
                           std::span<const std::byte> bytes) {
  return {std::move(name), type, std::move(shape),
          [bytes](const ByteSink &sink) { return sink(bytes); }};
}

Status writeSafetensors(const std::filesystem::path &path,
                        const std::vector<SafetensorsEntry> &entries,
                        const std::map<std::string, std::string> &metadata) {
  Json header = Json::object();
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const SafetensorsEntry &entry : entries) {
    std::optional<uint64_t> count = elementCount(entry.shape);
    uint64_t end = offset + count.value_or(0) * dataTypeSize(entry.type);
    header[entry.name] = {{"dtype", safetensorsName(entry.type)},
                          {"shape", entry.shape},
                          {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text =
      header.dump(-1, ' ', false, Json::error_handler_t::replace);
  // The data start at a multiple of 64 bytes, so that mapped tensors are
  // aligned.
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');
  uint64_t length = text.size();
  std::string start(reinterpret_cast<const char *>(&length), sizeof length);
  start += text;
  return writeFileAtomically(path, [&](const ByteSink &sink) -> Status {
    HALFTONE_RETURN_IF_ERROR(sink(std::as_bytes(std::span<const char>(start))));
    for (const SafetensorsEntry &entry : entries)
      HALFTONE_RETURN_IF_ERROR(entry.produce(sink));
    return {};
  });
}

} // namespace halftone::runtime
