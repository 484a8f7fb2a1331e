// SPDX-License-Identifier: Apache-2.0
// A lock between processes.
#pragma once

#include "runtime/base/Status.h"

#include <filesystem>
#include <optional>

namespace halftone::runtime {

/// Holds a file so that no other process does. Ends with the object, and with
/// the process however that ends: a killed one leaves the file but no lock. The
/// file stays, since another process may be about to lock it.
class FileLock {
public:
  /// Does not wait: gives nothing where the lock is held already. Makes the
  /// file where it is missing. On a file system without locks it is given
  /// unlocked.
  static Result<std::optional<FileLock>>
  tryLock(const std::filesystem::path &path);

  FileLock(FileLock &&other) noexcept : file(std::exchange(other.file, -1)) {}
  FileLock &operator=(FileLock &&other) noexcept {
    std::swap(file, other.file);
    return *this;
  }
  ~FileLock();

private:
  explicit FileLock(int file) : file(file) {}

  int file;
};

} // namespace halftone::runtime
