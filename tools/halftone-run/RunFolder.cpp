// SPDX-License-Identifier: Apache-2.0
// Run folders on the file system.
#include "tools/halftone-run/RunFolder.h"

#include "runtime/base/File.h"
#include "tools/halftone-run/Output.h"
#include "tools/halftone-run/RunFiles.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>

namespace halftone::run {

using namespace runtime;
namespace fs = std::filesystem;

namespace {
constexpr int kMaxRuns = 10000;

/// The lines of a log up to and including a step; a line that was cut by a
/// crash is dropped.
Result<std::string> linesUpTo(const fs::path &path, int64_t step) {
  Result<MappedFile> file = MappedFile::open(path);
  HALFTONE_RETURN_IF_ERROR(file);
  std::string_view text(reinterpret_cast<const char *>(file->bytes().data()),
                        file->bytes().size());
  std::string kept;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    Json json = Json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("step") &&
        json["step"].is_number_integer() && json["step"].get<int64_t>() <= step)
      kept.append(line).append("\n");
  }
  return kept;
}

Status append(std::FILE *file, const std::string &line) {
  if (std::fwrite(line.data(), 1, line.size(), file) != line.size() ||
      std::fflush(file) != 0)
    return failed(
        fmt::format("cannot write the run's log: {}", std::strerror(errno)));
  return {};
}
} // namespace

Result<RunFolder> RunFolder::choose(const fs::path &out, const fs::path &resume,
                                    bool overwrite,
                                    const std::string &planName) {
  RunFolder run;
  run.isResumed = !resume.empty();
  run.mayReplace = overwrite;
  run.planName = planName;
  if (run.isResumed && (overwrite || (!out.empty() && out != resume)))
    return invalidInput("--resume goes on in its own folder; it does not go "
                        "with --overwrite or another --out");
  run.folder = run.base = run.isResumed ? resume : out;
  if (run.folder.empty())
    return run;
  std::error_code error;
  if (!run.isResumed && fs::exists(out, error) && !fs::is_directory(out, error))
    return invalidInput(
        fmt::format("--out '{}' is a file, not a folder", out.string()));
  if (fs::exists(run.folder / kLock, error) ||
      (run.isResumed && holdsRun(run.folder)))
    HALFTONE_RETURN_IF_ERROR(run.lock());
  if (run.isResumed && !holdsCheckpoint(resume))
    return invalidInput(fmt::format(
        "'{}' holds no checkpoint to resume from; start {} without --resume",
        resume.string(),
        holdsRun(resume) ? fmt::format("anew with --out {}{}, or with another "
                                       "--out,",
                                       resume.string(),
                                       run.holdsRemains() ? "" : " --overwrite")
                         : "a run"));
  if (!run.isResumed)
    HALFTONE_RETURN_IF_ERROR(run.refuseUnlessFree());
  return run;
}

Status RunFolder::lock() {
  Result<std::optional<FileLock>> lock = FileLock::tryLock(folder / kLock);
  HALFTONE_RETURN_IF_ERROR(lock);
  if (!*lock)
    return invalidInput(fmt::format(
        "another process trains in the folder '{}'; wait until it has ended, "
        "or choose another --out",
        folder.string()));
  held = std::move(*lock);
  return settleRun(folder);
}

Status RunFolder::refuseUnlessFree() const {
  Result<bool> free = isFree(folder);
  HALFTONE_RETURN_IF_ERROR(free);
  bool isRun = holdsRun(folder);
  if (*free || (mayReplace && isRun) || holdsRemains())
    return {};
  if (!isRun)
    return invalidInput(fmt::format("the folder '{}' is not empty and holds no "
                                    "run; empty it, or choose another --out",
                                    folder.string()));
  return invalidInput(fmt::format(
      "the folder '{}' is not empty; use {}--overwrite to start anew, or "
      "another --out",
      folder.string(),
      holdsCheckpoint(folder)
          ? fmt::format("--resume {} to go on, ", folder.string())
          : ""));
}

/// Whether all in the folder is of a run that ended before it kept anything.
bool RunFolder::holdsRemains() const {
  if (!held || !keptNothing(folder) || !readRecord().ok())
    return false;
  // On a file system without locks nobody knows whether it has ended.
  Result<std::optional<FileLock>> second = FileLock::tryLock(folder / kLock);
  return second.ok() && !*second;
}

Status RunFolder::makeNumbered() {
  std::error_code error;
  fs::create_directories("runs", error);
  for (int number = 1; !error && number < kMaxRuns; ++number) {
    folder = base =
        fs::path("runs") / fmt::format("{}-{:03}", planName, number);
    // Several processes may be looking for a name.
    if (::mkdir(folder.c_str(), 0777) == 0)
      return {};
    if (errno != EEXIST)
      error = std::error_code(errno, std::generic_category());
  }
  if (error)
    return failed(
        fmt::format("cannot make a folder in 'runs': {}", error.message()));
  return invalidInput("all names of runs are taken; name a folder with --out");
}

Result<RunRecord> RunFolder::readRecord() const {
  RunRecord record;
  fs::path path = folder / "run.json";
  std::error_code error;
  if (!fs::exists(path, error))
    return record;
  Result<MappedFile> file = MappedFile::open(path);
  HALFTONE_RETURN_IF_ERROR(file);
  auto *text = reinterpret_cast<const char *>(file->bytes().data());
  Json json = Json::parse(text, text + file->bytes().size(), nullptr, false);
  auto count = [&](const char *key) {
    return json.contains(key) && json[key].is_number_unsigned();
  };
  if (!json.is_object() || !json.contains("val") || !json["val"].is_string() ||
      !count("eval_every") || !count("checkpoint_every"))
    return invalidInput(fmt::format("'{}' is damaged; remove it and give --val "
                                    "and the like again",
                                    path.string()));
  record.validation = json["val"].get<std::string>();
  record.evalEvery = json["eval_every"].get<int64_t>();
  record.checkpointEvery = json["checkpoint_every"].get<int64_t>();
  return record;
}

Result<RunFolder::FilePointer> RunFolder::openLog(const char *name,
                                                  int64_t step) {
  fs::path path = base / name;
  std::error_code error;
  if (isResumed && fs::exists(path, error)) {
    Result<std::string> kept = linesUpTo(path, step);
    HALFTONE_RETURN_IF_ERROR(kept);
    HALFTONE_RETURN_IF_ERROR(
        writeFileAtomically(path, std::string_view(*kept)));
  }
  FilePointer file(std::fopen(path.c_str(), isResumed ? "ae" : "we"));
  if (!file)
    return failed(fmt::format("cannot write '{}': {}", path.string(),
                              std::strerror(errno)));
  return file;
}

Status RunFolder::open(int64_t step, const RunRecord &record) {
  std::error_code error;
  if (folder.empty())
    HALFTONE_RETURN_IF_ERROR(makeNumbered());
  fs::create_directories(folder, error);
  if (!error && !held) {
    HALFTONE_RETURN_IF_ERROR(lock());
    HALFTONE_RETURN_IF_ERROR(refuseUnlessFree());
  }
  if (!error && mayReplace && holdsRun(folder)) {
    base = folder / kStaged;
    fs::create_directory(base, error);
  } else if (!error && !isResumed && holdsRemains()) {
    HALFTONE_RETURN_IF_ERROR(removeRun(folder));
  }
  if (error)
    return failed(fmt::format("cannot make the folder '{}': {}", base.string(),
                              error.message()));
  Json json = {{"val", record.validation.string()},
               {"eval_every", uint64_t(record.evalEvery)},
               {"checkpoint_every", uint64_t(record.checkpointEvery)}};
  HALFTONE_RETURN_IF_ERROR(
      writeFileAtomically(base / "run.json", std::string_view(toLine(json))));
  Result<FilePointer> opened = openLog("metrics.jsonl", step);
  HALFTONE_RETURN_IF_ERROR(opened);
  metrics = std::move(*opened);
  if (record.validation.empty())
    return {};
  opened = openLog("validation.jsonl", step);
  HALFTONE_RETURN_IF_ERROR(opened);
  validation = std::move(*opened);
  return {};
}

Status RunFolder::keep() {
  if (base == folder)
    return {};
  HALFTONE_RETURN_IF_ERROR(replaceRun(folder));
  base = folder;
  return {};
}

void RunFolder::abandon() {
  if (base != folder)
    (void)removeRun(base);
}

Status RunFolder::appendMetrics(const std::string &line) {
  return append(metrics.get(), line);
}

Status RunFolder::appendValidation(const std::string &line) {
  return append(validation.get(), line);
}

} // namespace halftone::run
