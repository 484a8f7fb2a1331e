// SPDX-License-Identifier: Apache-2.0
// The folder of a training run: where it may lie, and the files in it.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace halftone::run {

class RunFolder {
public:
  /// Chooses the folder without touching anything: `out`, or the folder to
  /// resume, or a free runs/NAME-NNN. Refuses one that is not empty without
  /// `overwrite` or `resume`.
  static runtime::Result<RunFolder> choose(const std::filesystem::path &out,
                                           const std::filesystem::path &resume,
                                           bool overwrite,
                                           const std::string &planName);

  const std::filesystem::path &path() const { return folder; }
  std::filesystem::path weights() const {
    return folder / "weights.safetensors";
  }
  std::filesystem::path checkpoint() const { return folder / "checkpoint"; }

  /// Makes the folder and opens metrics.jsonl and, where `validates`,
  /// validation.jsonl. An overwritten run's files are removed first; of a
  /// resumed run's lines those after `step` are dropped, since these steps will
  /// run again.
  runtime::Status open(int64_t step, bool validates);

  /// Append a line that ends in a newline.
  runtime::Status appendMetrics(const std::string &line);
  runtime::Status appendValidation(const std::string &line);

private:
  struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  using FilePointer = std::unique_ptr<std::FILE, CloseFile>;

  runtime::Result<FilePointer> openLog(const char *name, int64_t step);

  std::filesystem::path folder;
  bool isNumbered = false, isResumed = false;
  FilePointer metrics, validation;
};

/// Whether a file at `path` could be written: its folder exists. Asked before
/// long work.
runtime::Status checkOutputFile(const std::filesystem::path &path);

} // namespace halftone::run
