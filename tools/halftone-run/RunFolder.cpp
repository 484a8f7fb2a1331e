// SPDX-License-Identifier: Apache-2.0
// Run folders on the file system.
#include "tools/halftone-run/RunFolder.h"

#include "runtime/base/File.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace halftone::run {

using namespace runtime;
namespace fs = std::filesystem;

namespace {
constexpr int kMaxRuns = 10000;

fs::path numbered(const std::string &name, int number) {
  return fs::path("runs") / fmt::format("{}-{:03}", name, number);
}

/// The lines of a log up to and including a step; a line that was cut by a
/// crash is dropped.
std::string linesUpTo(const fs::path &path, int64_t step) {
  std::ifstream file(path);
  std::string kept, line;
  while (std::getline(file, line)) {
    nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("step") &&
        json["step"].is_number_integer() && json["step"].get<int64_t>() <= step)
      kept += line + "\n";
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
  if (run.isResumed && (overwrite || (!out.empty() && out != resume)))
    return invalidInput("--resume goes on in its own folder; it does not go "
                        "with --overwrite or another --out");
  std::error_code error;
  if (run.isResumed) {
    if (!fs::exists(resume / "checkpoint" / "checkpoint.json", error))
      return invalidInput(fmt::format("'{}' holds no checkpoint to resume from",
                                      resume.string()));
    run.folder = resume;
    return run;
  }
  if (out.empty()) {
    run.isNumbered = true;
    int number = 1;
    while (fs::exists(numbered(planName, number), error) && number < kMaxRuns)
      ++number;
    run.folder = numbered(planName, number);
    return run;
  }
  run.folder = out;
  bool exists = fs::exists(out, error);
  if (exists && !fs::is_directory(out, error))
    return invalidInput(
        fmt::format("--out '{}' is a file, not a folder", out.string()));
  if (exists && !fs::is_empty(out, error) && !overwrite)
    return invalidInput(fmt::format(
        "the folder '{}' is not empty; use --resume {} to go on, --overwrite "
        "to start anew, or another --out",
        out.string(), out.string()));
  return run;
}

Result<RunFolder::FilePointer> RunFolder::openLog(const char *name,
                                                  int64_t step) {
  fs::path path = folder / name;
  std::error_code error;
  if (isResumed && fs::exists(path, error))
    HALFTONE_RETURN_IF_ERROR(
        writeFileAtomically(path, std::string_view(linesUpTo(path, step))));
  FilePointer file(std::fopen(path.c_str(), isResumed ? "ae" : "we"));
  if (!file)
    return failed(fmt::format("cannot write '{}': {}", path.string(),
                              std::strerror(errno)));
  return file;
}

Status RunFolder::open(int64_t step, bool validates) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return failed(fmt::format("cannot make the folder '{}': {}",
                              folder.string(), error.message()));
  if (!isResumed) {
    fs::remove(weights(), error);
    fs::remove(folder / "validation.jsonl", error);
    fs::remove_all(checkpoint(), error);
  }
  Result<FilePointer> opened = openLog("metrics.jsonl", step);
  HALFTONE_RETURN_IF_ERROR(opened);
  metrics = std::move(*opened);
  if (!validates)
    return {};
  opened = openLog("validation.jsonl", step);
  HALFTONE_RETURN_IF_ERROR(opened);
  validation = std::move(*opened);
  return {};
}

Status RunFolder::appendMetrics(const std::string &line) {
  return append(metrics.get(), line);
}

Status RunFolder::appendValidation(const std::string &line) {
  return append(validation.get(), line);
}

Status checkOutputFile(const fs::path &path) {
  fs::path parent = path.parent_path();
  std::error_code error;
  if (!parent.empty() && !fs::is_directory(parent, error))
    return invalidInput(fmt::format("cannot write '{}': the folder '{}' does "
                                    "not exist",
                                    path.string(), parent.string()));
  if (fs::is_directory(path, error))
    return invalidInput(
        fmt::format("cannot write '{}': it is a folder", path.string()));
  return {};
}

} // namespace halftone::run
