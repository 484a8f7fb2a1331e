// SPDX-License-Identifier: Apache-2.0
// What a training run starts from: opened, checked against each other and
// against the run that is resumed, before the first step.
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/session/Checkpoint.h"
#include "tools/halftone-run/Commands.h"
#include "tools/halftone-run/RunFolder.h"

namespace halftone::run {

class TrainInputs {
public:
  /// Opens everything but the folder's files; makes nothing.
  static runtime::Result<TrainInputs> open(const TrainOptions &options,
                                           const runtime::NoticeSink &notice);

  std::shared_ptr<const runtime::Plan> plan;
  RunFolder folder;
  RunRecord record; ///< What the command line or the resumed run says.
  std::optional<runtime::DataSet> data, validation;
  std::unique_ptr<runtime::Session> session;
  runtime::CheckpointInfo info; ///< Where the run starts or goes on.
  int64_t totalSteps = 0;

private:
  runtime::Status openFiles(const TrainOptions &options,
                            const runtime::NoticeSink &notice);
  runtime::Status chooseRecord(const TrainOptions &options);
  runtime::Status countSteps(const TrainOptions &options,
                             const runtime::NoticeSink &notice);
  runtime::Status checkResume(const TrainOptions &options,
                              const std::string &fingerprint) const;
  runtime::Status openSession(const TrainOptions &options,
                              const runtime::NoticeSink &notice);
};

} // namespace halftone::run
