// SPDX-License-Identifier: Apache-2.0
// The commands of halftone-run, each with what its command line gave.
#pragma once

#include "runtime/session/Session.h"

#include <filesystem>
#include <optional>
#include <string>

namespace halftone::run {

/// What all commands over a plan take.
struct CommonOptions {
  std::filesystem::path plan;
  std::filesystem::path data;
  std::filesystem::path weights;
  std::filesystem::path out;
  std::string device; ///< Empty: the plan's target.
  std::optional<uint64_t> seed;
  bool overwrite = false;
};

struct TrainOptions : CommonOptions {
  std::filesystem::path validation;
  int64_t evalEvery = 0; ///< 0: at the end only.
  int64_t steps = 0;     ///< 0: by epochs.
  int64_t epochs = 0;    ///< 0: one, where steps are 0 too.
  std::filesystem::path resume;
  int64_t checkpointEvery = 0; ///< 0: at the end of epochs.
  bool keepOrder = false;      ///< Not shuffled.
};

struct BenchOptions : CommonOptions {
  int warmup = 5;
  int steps = 20;
  bool byNode = false;
};

/// Gives the process's exit code: 0, or 130 after an interruption.
runtime::Result<int> train(const TrainOptions &options);
runtime::Status grads(const CommonOptions &options);
runtime::Status eval(const CommonOptions &options);
runtime::Status predict(const CommonOptions &options);
runtime::Status bench(const BenchOptions &options);
runtime::Status trace(const CommonOptions &options, const std::string &program);
runtime::Status devices(bool asJson);
/// Version, devices and libraries.
void printVersion();

} // namespace halftone::run
