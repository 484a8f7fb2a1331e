// SPDX-License-Identifier: Apache-2.0
// The folder that a trace goes to: whole, or as if nothing had been written.
#pragma once

#include "runtime/base/Status.h"

#include <filesystem>
#include <utility>
#include <vector>

namespace halftone::run {

/// A folder that is empty or missing before the trace. With the object go the
/// trace's files, no others, and the folders that it made, unless keep() was
/// called. A killed process leaves them.
class TraceFolder {
public:
  explicit TraceFolder(std::filesystem::path path) : folder(std::move(path)) {}
  ~TraceFolder();
  TraceFolder(const TraceFolder &) = delete;
  TraceFolder &operator=(const TraceFolder &) = delete;

  /// Makes nothing. InvalidInput where there is a file, or a folder that is not
  /// empty.
  runtime::Status check() const;
  /// Checks again, since opening a plan takes time, and makes the folder.
  /// Failed where it cannot be made.
  runtime::Status make();
  /// The trace is whole.
  void keep() { isOurs = false; }

private:
  std::filesystem::path folder;
  std::vector<std::filesystem::path> made; ///< The innermost first.
  bool isOurs = false; ///< What has a trace file's name is of this trace.
};

} // namespace halftone::run
