// SPDX-License-Identifier: Apache-2.0
// Opening, in the order that finds cheap mistakes first.
#include "tools/halftone-run/TrainInputs.h"

#include "runtime/plan/PlanReader.h"
#include "tools/halftone-run/Flags.h"

namespace halftone::run {

using namespace runtime;

Result<TrainInputs> TrainInputs::open(const TrainOptions &options,
                                      const NoticeSink &notice) {
  TrainInputs inputs;
  HALFTONE_RETURN_IF_ERROR(inputs.openFiles(options, notice));
  HALFTONE_RETURN_IF_ERROR(inputs.countSteps(options, notice));
  HALFTONE_RETURN_IF_ERROR(inputs.openSession(options, notice));
  return inputs;
}

Status TrainInputs::openFiles(const TrainOptions &options,
                              const NoticeSink &notice) {
  if (options.steps > 0 && options.epochs > 0)
    return invalidInput("give either --steps or --epochs");
  Result<std::shared_ptr<const Plan>> read = readPlan(options.plan);
  HALFTONE_RETURN_IF_ERROR(read);
  plan = std::move(*read);
  if (plan->train.steps.empty())
    return invalidInput(options.plan.string() + ": has no train program");
  Result<RunFolder> chosen =
      RunFolder::choose(options.out, options.resume, options.overwrite,
                        options.plan.stem().string());
  HALFTONE_RETURN_IF_ERROR(chosen);
  folder = std::move(*chosen);
  HALFTONE_RETURN_IF_ERROR(chooseRecord(options));
  Result<DataSet> bound =
      DataSet::open(options.data, *plan, ProgramKind::Train, true, notice);
  HALFTONE_RETURN_IF_ERROR(bound);
  data.emplace(std::move(*bound));
  if (record.validation.empty())
    return {};
  bound =
      DataSet::open(record.validation, *plan, ProgramKind::Eval, true, notice);
  HALFTONE_RETURN_IF_ERROR(
      options.validation.empty()
          ? withContext("the run to resume validates (--val names other data)",
                        bound.status())
          : bound.status());
  validation.emplace(std::move(*bound));
  return {};
}

Status TrainInputs::chooseRecord(const TrainOptions &options) {
  if (!options.resume.empty()) {
    Result<RunRecord> old = folder.readRecord();
    HALFTONE_RETURN_IF_ERROR(old);
    record = std::move(*old);
  }
  std::error_code error;
  if (!options.validation.empty())
    record.validation = std::filesystem::absolute(options.validation, error);
  if (options.evalEvery > 0)
    record.evalEvery = options.evalEvery;
  if (options.checkpointEvery > 0)
    record.checkpointEvery = options.checkpointEvery;
  if (record.evalEvery > 0 && record.validation.empty())
    return invalidInput("--eval-every needs --val");
  return {};
}

Status TrainInputs::countSteps(const TrainOptions &options,
                               const NoticeSink &notice) {
  int64_t rows = data->rows(), batch = data->batch();
  if (rows < batch)
    return invalidInput(fmt::format(
        "{} has {} rows, fewer than one batch of {}; compile the plan with a "
        "smaller batch",
        options.data.string(), rows, batch));
  if (rows % batch != 0)
    notice(fmt::format("{} rows make {} batches of {}; each epoch leaves out "
                       "{} of the shuffled rows",
                       rows, rows / batch, batch, rows % batch));
  int64_t epochs = std::max<int64_t>(options.epochs, 1);
  if (epochs > kMostSteps / (rows / batch))
    return invalidInput(
        fmt::format("--epochs {} make more than {} steps", epochs, kMostSteps));
  totalSteps = options.steps > 0 ? options.steps : epochs * (rows / batch);
  return {};
}

Status TrainInputs::openSession(const TrainOptions &options,
                                const NoticeSink &notice) {
  SessionOptions wanted;
  wanted.device = options.device;
  wanted.weights = options.weights;
  wanted.seed = options.seed;
  wanted.loadWeights = options.resume.empty();
  wanted.programs = {ProgramKind::Train};
  if (validation)
    wanted.programs.push_back(ProgramKind::Eval);
  std::string fingerprint = data->fingerprint();
  if (!options.resume.empty())
    HALFTONE_RETURN_IF_ERROR(checkResume(options, fingerprint));
  Result<std::unique_ptr<Session>> opened =
      Session::create(plan, wanted, notice);
  HALFTONE_RETURN_IF_ERROR(opened);
  session = std::move(*opened);
  info = {
      0, 0, session->seed(), data->rows(), data->batch(), !options.keepOrder};
  info.data = fingerprint;
  if (options.resume.empty())
    return {};
  Result<CheckpointInfo> loaded =
      loadCheckpoint(*session, folder.checkpoint(), notice);
  HALFTONE_RETURN_IF_ERROR(loaded);
  info = *loaded;
  info.data = fingerprint;
  return {};
}

Status TrainInputs::checkResume(const TrainOptions &options,
                                const std::string &fingerprint) const {
  Result<CheckpointInfo> found = readCheckpointInfo(folder.checkpoint(), *plan);
  HALFTONE_RETURN_IF_ERROR(found);
  if (!options.weights.empty())
    return invalidInput("--resume takes the checkpoint's weights; it does "
                        "not go with --weights");
  if (options.seed && *options.seed != found->seed)
    return invalidInput(fmt::format("the run to resume has seed {}, not {}",
                                    found->seed, *options.seed));
  if (found->rows != data->rows() || found->batch != data->batch())
    return invalidInput(fmt::format(
        "the run to resume was trained on {} rows in batches of {}, {} has "
        "{} rows and the plan batches of {}",
        found->rows, found->batch, options.data.string(), data->rows(),
        data->batch()));
  if (!found->data.empty() && found->data != fingerprint)
    return invalidInput(fmt::format(
        "the run to resume was trained on other data than {} holds now; "
        "resume with the data it began with, or start another run from its "
        "weights with --weights",
        options.data.string()));
  if (found->shuffle == options.keepOrder)
    return invalidInput(found->shuffle
                            ? "the run to resume shuffles its data; leave "
                              "out --no-shuffle"
                            : "the run to resume does not shuffle its data; "
                              "add --no-shuffle");
  return {};
}

} // namespace halftone::run
