// SPDX-License-Identifier: Apache-2.0
// The safetensors format: eight bytes of length, a JSON header, the data. Read
// by memory map; written tensor by tensor, so that no second copy of all
// weights is needed.
#pragma once

#include "runtime/base/File.h"
#include "runtime/data/HostArray.h"

#include <functional>

namespace halftone::runtime {

struct SafetensorsFile {
  ArrayMap arrays; ///< Point into the mapped file.
  std::map<std::string, std::string> metadata;
};

/// Parses the content of a file; offsets and sizes are checked.
Result<SafetensorsFile>
parseSafetensors(std::span<const std::byte> content,
                 const std::shared_ptr<const void> &owner);

Result<SafetensorsFile> readSafetensors(const std::filesystem::path &path);

struct SafetensorsEntry {
  std::string name;
  DataType type;
  Shape shape;
  /// Gives exactly the bytes of type and shape, in pieces.
  std::function<Status(const ByteSink &)> produce;
};

/// An entry of bytes that stay where they are until the file is written.
SafetensorsEntry makeEntry(std::string name, DataType type, Shape shape,
                           std::span<const std::byte> bytes);

/// Writes the file at once or not at all.
Status
writeSafetensors(const std::filesystem::path &path,
                 const std::vector<SafetensorsEntry> &entries,
                 const std::map<std::string, std::string> &metadata = {});

} // namespace halftone::runtime
