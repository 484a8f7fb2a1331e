// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/ExternalData.h"
#include "llvm/ADT/StringExtras.h"
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace halftone::onnx_frontend {
namespace {

struct Entry {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  bool valid = true;
};

Entry parseEntry(const onnx::TensorProto &tensor) {
  Entry entry;
  for (const auto &pair : tensor.external_data()) {
    uint64_t number = 0;
    if (pair.key() == "location") {
      entry.location = pair.value();
    } else if (pair.key() == "offset" || pair.key() == "length") {
      if (!llvm::to_integer(pair.value(), number, 10))
        entry.valid = false;
      else if (pair.key() == "offset")
        entry.offset = number;
      else
        entry.length = number;
    }
  }
  return entry;
}

bool isPlainRelative(const std::string &location) {
  fs::path path(location);
  if (location.empty() || path.is_absolute() ||
      location.find('\\') != std::string::npos ||
      location.find('\0') != std::string::npos ||
      (location.size() > 1 && location[1] == ':'))
    return false;
  return llvm::none_of(path, [](const fs::path &part) { return part == ".."; });
}

bool isInside(const fs::path &file, const fs::path &folder) {
  auto [end, rest] =
      std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end();
}

} // namespace

ExternalData::Status ExternalData::refuse(const onnx::TensorProto &tensor,
                                          const llvm::Twine &why) {
  log.error("external data of '" + tensor.name() + "': " + why);
  return Status::Refused;
}

ExternalData::Status ExternalData::read(const onnx::TensorProto &tensor,
                                        uint64_t size, std::string &bytes) {
  Entry entry = parseEntry(tensor);
  if (!entry.valid)
    return refuse(tensor, "offset or length is no number");
  if (!isPlainRelative(entry.location))
    return refuse(tensor, "the path '" + entry.location +
                              "' leads outside the model's folder: only "
                              "relative paths inside it are read");
  std::error_code failed;
  fs::path base = fs::canonical(folder.empty() ? "." : folder, failed);
  fs::path file =
      failed ? fs::path() : fs::weakly_canonical(base / entry.location, failed);
  if (failed)
    return refuse(tensor, "cannot find the folder '" + folder + "'");
  if (!isInside(file, base))
    return refuse(tensor,
                  "'" + entry.location +
                      "' is a link to a place outside the model's folder");
  if (!fs::exists(file, failed))
    return Status::Missing;
  if (!fs::is_regular_file(file, failed))
    return refuse(tensor, "'" + entry.location + "' is no regular file");
  if (entry.length && *entry.length != size)
    return refuse(tensor, "the model gives " + std::to_string(*entry.length) +
                              " bytes, its shape and type need " +
                              std::to_string(size));
  uint64_t available = fs::file_size(file, failed);
  if (failed || entry.offset > available || available - entry.offset < size)
    return refuse(tensor, "'" + entry.location +
                              "' is too short: " + std::to_string(size) +
                              " bytes are wanted from offset " +
                              std::to_string(entry.offset) + ", the file has " +
                              std::to_string(available));
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(entry.offset));
  bytes.resize(size);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size)))
    return refuse(tensor, "cannot read '" + entry.location + "'");
  return Status::Read;
}

void ExternalData::noteMissing(const onnx::TensorProto &tensor) {
  missing[parseEntry(tensor).location].push_back(tensor.name());
}

void ExternalData::reportMissing() {
  for (const auto &[file, tensors] : missing)
    log.error("external data file '" + file + "' is missing, it holds " +
              counted(tensors.size(), "tensor") + " (" + joinNames(tensors, 5) +
              "): put it into the model's folder, or draw the weights with "
              "--init random");
  missing.clear();
}

} // namespace halftone::onnx_frontend
