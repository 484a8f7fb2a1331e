// SPDX-License-Identifier: Apache-2.0
// Replacement in three moves: the old files go aside, the staged folder is
// renamed (the decision), its files move up.
#include "tools/halftone-run/RunFiles.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace halftone::run {

using namespace runtime;
namespace fs = std::filesystem;

namespace {
constexpr const char *kDecided = ".ready", *kAside = ".old";
constexpr std::array<std::string_view, 5> kFiles{
    "checkpoint", "weights.safetensors", "metrics.jsonl", "validation.jsonl",
    "run.json"};

Status failure(const fs::path &folder, const std::error_code &error) {
  return failed(fmt::format("cannot change the folder '{}': {}",
                            folder.string(), error.message()));
}

/// Moves a run's files from one folder to another that has none of them.
Status moveFiles(const fs::path &from, const fs::path &to) {
  std::error_code error;
  for (std::string_view name : kFiles) {
    if (!fs::exists(from / name, error))
      continue;
    fs::rename(from / name, to / name, error);
    if (error)
      return failure(to, error);
  }
  return {};
}

/// What writeFileAtomically leaves where it is killed.
bool isHalfWritten(const std::string &name) {
  return std::ranges::any_of(kFiles, [&](std::string_view file) {
    return name.starts_with(std::string(file) + ".tmp-");
  });
}
} // namespace

bool holdsRun(const fs::path &folder) {
  std::error_code error;
  return std::ranges::any_of(kFiles, [&](std::string_view name) {
    return fs::exists(folder / name, error);
  });
}

Result<bool> isFree(const fs::path &folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory)
    return true;
  if (error)
    return failed(fmt::format("cannot read the folder '{}': {}",
                              folder.string(), error.message()));
  return std::ranges::all_of(entries, [](const fs::directory_entry &entry) {
    return entry.path().filename() == kLock;
  });
}

Status settleRun(const fs::path &folder) {
  std::error_code error;
  fs::path left;
  if (fs::exists(folder / kDecided, error))
    left = folder / kDecided;
  else if (fs::exists(folder / kStaged, error))
    left = folder / kAside;
  if (!left.empty())
    HALFTONE_RETURN_IF_ERROR(moveFiles(left, folder));
  // The staged folder goes last but one: while it is there, what lies aside is
  // the run.
  for (const char *name : {kDecided, kStaged, kAside})
    if (fs::remove_all(folder / name, error); error)
      return failure(folder, error);
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (isHalfWritten(entry.path().filename()))
      fs::remove(entry.path(), error);
  return {};
}

Status replaceRun(const fs::path &folder) {
  std::error_code error;
  fs::create_directory(folder / kAside, error);
  if (error)
    return failure(folder, error);
  HALFTONE_RETURN_IF_ERROR(moveFiles(folder, folder / kAside));
  fs::rename(folder / kStaged, folder / kDecided, error);
  if (error)
    return failure(folder, error);
  return settleRun(folder);
}

} // namespace halftone::run
