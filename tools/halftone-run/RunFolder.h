// SPDX-License-Identifier: Apache-2.0
// The folder of a training run: where it may lie, who writes to it, and the
// logs in it.
#pragma once

#include "runtime/base/FileLock.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace halftone::run {

/// What a resumed run goes on with where its command line does not say
/// otherwise.
struct RunRecord {
  std::filesystem::path validation; ///< Absolute; empty: none.
  int64_t evalEvery = 0;
  int64_t checkpointEvery = 0;
};

class RunFolder {
public:
  /// Chooses the folder without making anything: `out`, or the folder to
  /// resume, or (in open) a free runs/NAME-NNN. Refuses one that another
  /// process writes to, and one that is not empty without `overwrite` or
  /// `resume`; with `overwrite` too where it holds no run. What a run left that
  /// ended before it kept anything counts as nothing.
  static runtime::Result<RunFolder> choose(const std::filesystem::path &out,
                                           const std::filesystem::path &resume,
                                           bool overwrite,
                                           const std::string &planName);

  const std::filesystem::path &path() const { return folder; }
  /// Where to write; in another place before and after keep().
  std::filesystem::path weights() const { return base / "weights.safetensors"; }
  std::filesystem::path checkpoint() const { return base / "checkpoint"; }

  /// The record of the run to resume; nothing in it where there is none.
  runtime::Result<RunRecord> readRecord() const;

  /// Makes and locks the folder, writes the record and opens metrics.jsonl and,
  /// where the record names validation data, validation.jsonl. Of a resumed
  /// run's lines those after `step` are dropped, since these steps will run
  /// again. An overwritten run stays as it is until keep(); the remains of one
  /// that kept nothing go at once.
  runtime::Status open(int64_t step, const RunRecord &record);

  /// Called when there is a checkpoint: the run takes the place of the one that
  /// it overwrites.
  runtime::Status keep();
  /// The run failed: where it would have taken another one's place, nothing of
  /// it stays.
  void abandon();

  /// Append a line that ends in a newline.
  runtime::Status appendMetrics(const std::string &line);
  runtime::Status appendValidation(const std::string &line);

private:
  struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  using FilePointer = std::unique_ptr<std::FILE, CloseFile>;

  runtime::Status lock();
  runtime::Status refuseUnlessFree() const;
  bool holdsRemains() const;
  runtime::Status makeNumbered();
  runtime::Result<FilePointer> openLog(const char *name, int64_t step);

  std::filesystem::path folder;
  std::filesystem::path base; ///< The folder, or the staged one in it.
  std::string planName;
  bool isResumed = false, mayReplace = false;
  std::optional<runtime::FileLock> held;
  FilePointer metrics, validation;
};

} // namespace halftone::run
