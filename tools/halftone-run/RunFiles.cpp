// SPDX-License-Identifier: Apache-2.0
// Replacement in three moves: the old files go aside, the staged folder is
// renamed (the decision), its files move up.
#include "tools/halftone-run/RunFiles.h"

#include "runtime/session/Checkpoint.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <string_view>
#include <vector>

namespace halftone::run {

using namespace runtime;
namespace fs = std::filesystem;

namespace {
constexpr const char *kDecided = ".ready", *kAside = ".old";
constexpr const char *kCheckpoint = "checkpoint", *kRecord = "run.json";
constexpr const char *kWeights = "weights.safetensors";
constexpr std::array<std::string_view, 4> kFiles{kWeights, "metrics.jsonl",
                                                 "validation.jsonl", kRecord};

Status failure(const fs::path &folder, const std::error_code &error) {
  return failed(fmt::format("cannot change the folder '{}': {}",
                            folder.string(), error.message()));
}

/// What writeFileAtomically leaves where it is killed.
bool isHalfWritten(const std::string &name) {
  return std::ranges::any_of(kFiles, [&](std::string_view file) {
    return name.starts_with(std::string(file) + ".tmp-");
  });
}

/// A run's files as they lie in a folder, relative to it; the record is last.
/// What others put beside them, below checkpoint too, is none of them.
std::vector<fs::path> filesOf(const fs::path &folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto &entry : fs::directory_iterator(folder / kCheckpoint, error))
    if (runtime::isCheckpointFile(entry.path().filename().string()) &&
        !fs::is_directory(entry.symlink_status(error)))
      files.push_back(kCheckpoint / entry.path().filename());
  for (std::string_view name : kFiles) {
    fs::file_status status = fs::symlink_status(folder / name, error);
    if (fs::exists(status) && !fs::is_directory(status))
      files.emplace_back(name);
  }
  return files;
}

/// Whether an entry of a folder is a file that satisfies `isOwn`; others may
/// have put links there.
bool isFileOf(const fs::directory_entry &entry,
              const std::function<bool(const std::string &)> &isOwn) {
  std::error_code error;
  return fs::is_regular_file(entry.symlink_status(error)) &&
         isOwn(entry.path().filename());
}

/// Whether a checkpoint's folder holds pieces of a checkpoint at most.
bool holdsPieces(const fs::path &folder) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error)))
    return false;
  fs::directory_iterator entries(folder, error);
  return !error && std::ranges::all_of(entries, [](const auto &entry) {
    return isFileOf(entry, runtime::isCheckpointFile);
  });
}

/// Removes a folder where it is empty.
void removeEmpty(const fs::path &folder) {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(folder, error)))
    fs::remove(folder, error);
}

/// Moves a run's files from one folder to another that has none of them.
Status moveFiles(const fs::path &from, const fs::path &to) {
  std::error_code error;
  for (const fs::path &file : filesOf(from)) {
    if (file.has_parent_path())
      fs::create_directory(to / kCheckpoint, error);
    if (!error)
      fs::rename(from / file, to / file, error);
    if (error)
      return failure(to, error);
  }
  removeEmpty(from / kCheckpoint);
  return {};
}

void removeHalfWritten(const fs::path &folder) {
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (isHalfWritten(entry.path().filename()))
      fs::remove(entry.path(), error);
}
} // namespace

bool holdsRun(const fs::path &folder) {
  std::error_code error;
  return holdsCheckpoint(folder) || fs::exists(folder / kRecord, error) ||
         fs::exists(folder / "metrics.jsonl", error);
}

bool holdsCheckpoint(const fs::path &folder) {
  std::error_code error;
  return fs::exists(folder / kCheckpoint / "checkpoint.json", error);
}

bool keptNothing(const fs::path &folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  auto isOwn = [](const std::string &name) {
    return name != kWeights &&
           (name == kLock || std::ranges::count(kFiles, name) > 0);
  };
  // The record is written first and removed last.
  return !error && !holdsCheckpoint(folder) &&
         (fs::exists(folder / kRecord, error) || filesOf(folder).empty()) &&
         std::ranges::all_of(entries, [&](const fs::directory_entry &entry) {
           return entry.path().filename() == kCheckpoint
                      ? holdsPieces(entry.path())
                      : isFileOf(entry, isOwn);
         });
}

Status removeRun(const fs::path &folder) {
  std::error_code error;
  for (const fs::path &file : filesOf(folder))
    if (fs::remove(folder / file, error); error)
      return failure(folder, error);
  removeHalfWritten(folder);
  removeEmpty(folder / kCheckpoint);
  removeEmpty(folder);
  return {};
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
  removeHalfWritten(folder);
  if (!holdsRun(folder) && !holdsRun(folder / kDecided) &&
      !holdsRun(folder / kStaged) && !holdsRun(folder / kAside))
    return {};
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
    HALFTONE_RETURN_IF_ERROR(removeRun(folder / name));
  // What is left in them would be taken for a run's at the next replacement.
  for (const char *name : {kDecided, kStaged, kAside})
    if (fs::exists(folder / name, error))
      return invalidInput(fmt::format("'{}' holds files that are not a run's; "
                                      "move it away, or choose another --out",
                                      (folder / name).string()));
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
