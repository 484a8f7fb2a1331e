// SPDX-License-Identifier: Apache-2.0
// Files: reading by memory map, and writing so that a file is either complete
// or not there.
#pragma once

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

namespace halftone::runtime {

/// A file mapped read-only. Copies share the mapping.
class MappedFile {
public:
  /// Fails, naming the path, where there is no readable regular file.
  static Result<MappedFile> open(const std::filesystem::path &path);

  std::span<const std::byte> bytes() const { return {mapping.get(), length}; }

private:
  std::shared_ptr<const std::byte> mapping;
  size_t length = 0;
};

/// Takes the pieces of a file in order.
using ByteSink = std::function<Status(std::span<const std::byte>)>;

/// Writes `path` through a temporary file in the same folder, which is renamed
/// when all went well and removed otherwise: a reader never sees half a file.
/// `produce` gives the content.
Status
writeFileAtomically(const std::filesystem::path &path,
                    const std::function<Status(const ByteSink &)> &produce);
Status writeFileAtomically(const std::filesystem::path &path,
                           std::span<const std::byte> content);
Status writeFileAtomically(const std::filesystem::path &path,
                           std::string_view content);

} // namespace halftone::runtime
