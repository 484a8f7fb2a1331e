// SPDX-License-Identifier: Apache-2.0
// halftone-run train: data, session, loop, logs, and what is left in the
// folder.
#include "runtime/plan/PlanReader.h"
#include "runtime/session/Checkpoint.h"
#include "runtime/session/Evaluator.h"
#include "runtime/session/Trainer.h"
#include "runtime/session/Weights.h"
#include "tools/halftone-run/Commands.h"
#include "tools/halftone-run/Flags.h"
#include "tools/halftone-run/Output.h"
#include "tools/halftone-run/RunFolder.h"

#include <csignal>
#include <fmt/format.h>

namespace halftone::run {

using namespace runtime;

namespace {
constexpr size_t kLossesShown = 1000;
constexpr int kInterruptedExit = 130;

volatile std::sig_atomic_t interrupted = 0;

/// The first SIGINT or SIGTERM ends the loop after the step; a second one ends
/// the process.
void catchSignals() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

class TrainRun {
public:
  explicit TrainRun(const TrainOptions &options) : options(options) {}

  Result<int> run() {
    HALFTONE_RETURN_IF_ERROR(openInputs());
    HALFTONE_RETURN_IF_ERROR(openSession());
    HALFTONE_RETURN_IF_ERROR(
        folder->open(info.step, !options.validation.empty()));
    notices.release();
    catchSignals();
    auto start = std::chrono::steady_clock::now();
    int64_t first = info.step;
    Status status = loop();
    seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    progress->close();
    // Skipped steps change nothing, so that what there is then is worth
    // keeping.
    if (status.ok() || status.code() == StatusCode::NonFinite)
      HALFTONE_RETURN_IF_ERROR(save());
    HALFTONE_RETURN_IF_ERROR(status);
    // Without a reader nobody waits for the rest, but what was done is kept.
    if (Status output = outputStatus(); !output.ok())
      return failed(
          fmt::format("{}; step {} is saved, --resume {} goes on from it",
                      output.message(), info.step, folder->path().string()));
    HALFTONE_RETURN_IF_ERROR(printSummary(info.step - first));
    return interrupted ? kInterruptedExit : 0;
  }

private:
  Status openInputs() {
    if (options.steps > 0 && options.epochs > 0)
      return invalidInput("give either --steps or --epochs");
    if (options.evalEvery > 0 && options.validation.empty())
      return invalidInput("--eval-every needs --val");
    Result<std::shared_ptr<const Plan>> read = readPlan(options.plan);
    HALFTONE_RETURN_IF_ERROR(read);
    plan = std::move(*read);
    if (plan->train.steps.empty())
      return invalidInput(options.plan.string() + ": has no train program");
    Result<RunFolder> chosen =
        RunFolder::choose(options.out, options.resume, options.overwrite,
                          options.plan.stem().string());
    HALFTONE_RETURN_IF_ERROR(chosen);
    folder.emplace(std::move(*chosen));
    Result<DataSet> bound =
        DataSet::open(options.data, *plan, ProgramKind::Train, true, notice);
    HALFTONE_RETURN_IF_ERROR(bound);
    data.emplace(std::move(*bound));
    if (!options.validation.empty()) {
      bound = DataSet::open(options.validation, *plan, ProgramKind::Eval, true,
                            notice);
      HALFTONE_RETURN_IF_ERROR(bound);
      validation.emplace(std::move(*bound));
    }
    return checkRows();
  }

  Status checkRows() {
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
      return invalidInput(fmt::format("--epochs {} make more than {} steps",
                                      epochs, kMostSteps));
    totalSteps = options.steps > 0 ? options.steps : epochs * (rows / batch);
    progress.emplace(totalSteps);
    return {};
  }

  Status openSession() {
    SessionOptions wanted;
    wanted.device = options.device;
    wanted.weights = options.weights;
    wanted.seed = options.seed;
    wanted.loadWeights = options.resume.empty();
    wanted.programs = {ProgramKind::Train};
    if (validation)
      wanted.programs.push_back(ProgramKind::Eval);
    if (!options.resume.empty())
      HALFTONE_RETURN_IF_ERROR(checkResume());
    Result<std::unique_ptr<Session>> opened =
        Session::create(plan, wanted, notice);
    HALFTONE_RETURN_IF_ERROR(opened);
    session = std::move(*opened);
    info = {
        0, 0, session->seed(), data->rows(), data->batch(), !options.keepOrder};
    if (options.resume.empty())
      return {};
    Result<CheckpointInfo> loaded =
        loadCheckpoint(*session, folder->checkpoint());
    HALFTONE_RETURN_IF_ERROR(loaded);
    info = *loaded;
    return {};
  }

  Status checkResume() {
    Result<CheckpointInfo> found =
        readCheckpointInfo(folder->checkpoint(), *plan);
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
    if (found->shuffle == options.keepOrder)
      return invalidInput(found->shuffle
                              ? "the run to resume shuffles its data; leave "
                                "out --no-shuffle"
                              : "the run to resume does not shuffle its data; "
                                "add --no-shuffle");
    return {};
  }

  Status loop() {
    BatchOrder order(info.rows, info.batch, info.seed, info.shuffle);
    Result<std::unique_ptr<Trainer>> made =
        Trainer::create(*session, *data, std::move(order), info.step);
    HALFTONE_RETURN_IF_ERROR(made);
    Trainer &trainer = **made;
    ReportSink sink = [&](const StepReport &report) { return note(report); };
    while (trainer.stepsQueued() < totalSteps && !interrupted &&
           outputStatus().ok()) {
      HALFTONE_RETURN_IF_ERROR(trainer.step(sink));
      if (options.evalEvery > 0 &&
          trainer.stepsQueued() % options.evalEvery == 0 &&
          trainer.stepsQueued() < totalSteps) {
        HALFTONE_RETURN_IF_ERROR(trainer.finish(sink));
        HALFTONE_RETURN_IF_ERROR(validate());
      }
    }
    HALFTONE_RETURN_IF_ERROR(trainer.finish(sink));
    return validation && !interrupted ? validate() : Status();
  }

  Status note(const StepReport &report) {
    info.step = report.step;
    info.applied += report.applied;
    finalLoss = report.loss;
    if (losses.size() < kLossesShown)
      losses.push_back(number(report.loss));
    progress->show(report);
    Json line = {{"step", report.step},
                 {"loss", number(report.loss)},
                 {"lr", number(report.lr)},
                 {"scale", number(report.scale)},
                 {"applied", report.applied},
                 {"grad_norm", number(report.gradNorm)},
                 {"step_ms", number(report.milliseconds)}};
    if (!report.firstBad.empty())
      line["first_bad"] = report.firstBad;
    return folder->appendMetrics(toLine(line));
  }

  Status validate() {
    Result<EvalResult> result = evaluate(*session, *validation, notice);
    HALFTONE_RETURN_IF_ERROR(result);
    lastValidation = {{"step", info.step},
                      {"loss", number(result->loss)},
                      {"count", result->count}};
    std::string text = fmt::format("validation after step {}: loss {:.6f}",
                                   info.step, result->loss);
    if (result->accuracy) {
      lastValidation["accuracy"] = *result->accuracy;
      text += fmt::format("  accuracy {:.4f}", *result->accuracy);
    }
    progress->say(text);
    return folder->appendValidation(toLine(lastValidation));
  }

  Status save() {
    HALFTONE_RETURN_IF_ERROR(
        saveWeights(session->executor(), folder->weights()));
    return saveCheckpoint(*session, folder->checkpoint(), info);
  }

  Status printSummary(int64_t stepsRun) {
    Result<MemoryInfo> memory = session->device().memory();
    HALFTONE_RETURN_IF_ERROR(memory);
    Json summary = {
        {"steps", info.step},
        {"applied", info.applied},
        {"skipped", info.step - info.applied},
        {"final_loss", number(finalLoss)},
        {"loss", losses},
        {"peak_bytes", memory->peakBytes},
        {"steps_per_second",
         number(seconds > 0 ? static_cast<double>(stepsRun) / seconds : 0)},
        {"out", folder->path().string()}};
    if (!lastValidation.is_null())
      summary["validation"] = lastValidation;
    if (interrupted)
      summary["interrupted"] = true;
    printJson(summary);
    return {};
  }

  const TrainOptions &options;
  Notices notices;
  NoticeSink notice = notices.sink();
  std::shared_ptr<const Plan> plan;
  std::optional<RunFolder> folder;
  std::optional<DataSet> data, validation;
  std::unique_ptr<Session> session;
  std::optional<Progress> progress;
  CheckpointInfo info;
  int64_t totalSteps = 0;
  double finalLoss = NAN, seconds = 0;
  Json losses = Json::array(), lastValidation;
};
} // namespace

Result<int> train(const TrainOptions &options) {
  return TrainRun(options).run();
}

} // namespace halftone::run
