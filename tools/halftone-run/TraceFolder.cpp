// SPDX-License-Identifier: Apache-2.0
// Since the folder was empty, the trace's files are known by their names.
#include "tools/halftone-run/TraceFolder.h"

#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

namespace halftone::run {

using namespace runtime;
namespace fs = std::filesystem;

namespace {
/// What writeTrace writes, half-written files included.
bool isTraceFile(std::string_view name) {
  constexpr size_t kFewestDigits = 5;
  std::string_view rest = name.substr(0, name.find(".tmp-"));
  size_t digits = rest.find_first_not_of("0123456789");
  return digits != rest.npos && digits >= kFewestDigits &&
         rest.substr(digits) == ".safetensors";
}
} // namespace

TraceFolder::~TraceFolder() {
  if (!isOurs)
    return;
  std::error_code error;
  // A loop over a range would throw where the folder cannot be read.
  for (fs::directory_iterator entry(folder, error), end; entry != end;
       entry.increment(error))
    if (isTraceFile(entry->path().filename().string()))
      ::unlink(entry->path().c_str());
  for (const fs::path &level : made)
    ::rmdir(level.c_str());
}

Status TraceFolder::check() const {
  std::error_code error;
  if (!fs::exists(folder, error))
    return {};
  if (!fs::is_directory(folder, error))
    return invalidInput(
        fmt::format("--out '{}' is a file, not a folder", folder.string()));
  if (!fs::is_empty(folder, error))
    return invalidInput(
        fmt::format("'{}' is not an empty folder; empty it, or choose another "
                    "--out",
                    folder.string()));
  return {};
}

Status TraceFolder::make() {
  HALFTONE_RETURN_IF_ERROR(check());
  std::error_code error;
  for (fs::path level = folder;
       !level.empty() && !fs::exists(fs::symlink_status(level, error));
       level = level.parent_path())
    made.push_back(level);
  isOurs = true;
  fs::create_directories(folder, error);
  if (error)
    return failed(fmt::format("cannot make the folder '{}': {}",
                              folder.string(), error.message()));
  return {};
}

} // namespace halftone::run
