// SPDX-License-Identifier: Apache-2.0
// halftone-run train: loop, logs, and what is left in the folder.
#include "runtime/session/Evaluator.h"
#include "runtime/session/Trainer.h"
#include "runtime/session/Weights.h"
#include "tools/halftone-run/Commands.h"
#include "tools/halftone-run/Output.h"
#include "tools/halftone-run/TrainInputs.h"

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

/// Says when a checkpoint is due: as often as was asked for, else at the end of
/// each epoch, as long as saving takes less than a twentieth of the time.
class CheckpointClock {
public:
  CheckpointClock(int64_t every, int64_t epoch) : every(every), epoch(epoch) {}

  bool isDue(int64_t step) const {
    if (every > 0)
      return step % every == 0;
    return step % epoch == 0 && Clock::now() - last >= kShare * cost;
  }

  void begin() { last = Clock::now(); }
  void end() {
    Clock::time_point now = Clock::now();
    cost = now - std::exchange(last, now);
    spent += cost;
  }

  /// Saving so far.
  double seconds() const {
    return std::chrono::duration<double>(spent).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kShare = 20;

  int64_t every, epoch;
  Clock::time_point last;
  Clock::duration cost{0}, spent{0};
};

class TrainRun {
public:
  TrainRun(TrainInputs &&opened, NoticeSink notice)
      : inputs(std::move(opened)), notice(std::move(notice)),
        appliedBefore(inputs.info.applied),
        savedStep(inputs.info.step > 0 ? inputs.info.step : -1),
        progress(inputs.totalSteps),
        clock(inputs.record.checkpointEvery,
              inputs.info.rows / inputs.info.batch) {}

  Result<int> run() {
    int64_t first = inputs.info.step;
    HALFTONE_RETURN_IF_ERROR(inputs.folder.open(first, inputs.record));
    if (first >= inputs.totalSteps)
      return endAtOnce();
    catchSignals();
    auto start = std::chrono::steady_clock::now();
    Status status = loop();
    seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count() -
        clock.seconds();
    progress.close();
    // Skipped steps change nothing, so that what was trained before them is
    // worth keeping.
    bool isUsable = status.code() == StatusCode::NonFinite && hasTrained();
    Status kept = status.ok() || isUsable ? save() : Status();
    inputs.folder.abandon();
    HALFTONE_RETURN_IF_ERROR(kept);
    HALFTONE_RETURN_IF_ERROR(status);
    // Without a reader nobody waits for the rest, but what was done is kept.
    if (Status output = outputStatus(); !output.ok())
      return failed(fmt::format(
          "{}; step {} is saved, --resume {} goes on from it", output.message(),
          inputs.info.step, inputs.folder.path().string()));
    HALFTONE_RETURN_IF_ERROR(printSummary(inputs.info.step - first));
    return interrupted ? kInterruptedExit : 0;
  }

private:
  /// Skipped steps alone are no result.
  bool hasTrained() const { return inputs.info.applied > appliedBefore; }

  /// The weights may be those of another step, or missing after a kill.
  Result<int> endAtOnce() {
    notice(fmt::format("nothing is left to do: {} of {} steps are done; give "
                       "more with --steps or --epochs",
                       inputs.info.step, inputs.totalSteps));
    HALFTONE_RETURN_IF_ERROR(save());
    HALFTONE_RETURN_IF_ERROR(printSummary(0));
    return 0;
  }

  Status loop() {
    const CheckpointInfo &info = inputs.info;
    BatchOrder order(info.rows, info.batch, info.seed, info.shuffle);
    Result<std::unique_ptr<Trainer>> made = Trainer::create(
        *inputs.session, *inputs.data, std::move(order), info.step);
    HALFTONE_RETURN_IF_ERROR(made);
    Trainer &trainer = **made;
    ReportSink sink = [&](const StepReport &report) { return note(report); };
    while (trainer.stepsQueued() < inputs.totalSteps && !interrupted &&
           outputStatus().ok()) {
      HALFTONE_RETURN_IF_ERROR(trainer.step(sink));
      int64_t step = trainer.stepsQueued();
      if (step == inputs.totalSteps)
        break;
      if (inputs.record.evalEvery > 0 && step % inputs.record.evalEvery == 0) {
        HALFTONE_RETURN_IF_ERROR(trainer.finish(sink));
        HALFTONE_RETURN_IF_ERROR(validate());
      }
      if (clock.isDue(step)) {
        HALFTONE_RETURN_IF_ERROR(trainer.finish(sink));
        if (hasTrained())
          HALFTONE_RETURN_IF_ERROR(keepCheckpoint());
      }
    }
    HALFTONE_RETURN_IF_ERROR(trainer.finish(sink));
    if (interrupted)
      return {};
    HALFTONE_RETURN_IF_ERROR(trainer.checkTrained());
    return inputs.validation ? validate() : Status();
  }

  Status note(const StepReport &report) {
    inputs.info.step = report.step;
    inputs.info.applied += report.applied;
    finalLoss = report.loss;
    if (losses.size() < kLossesShown)
      losses.push_back(number(report.loss));
    progress.show(report);
    Json line = {{"step", report.step},
                 {"loss", number(report.loss)},
                 {"lr", number(report.lr)},
                 {"scale", number(report.scale)},
                 {"applied", report.applied},
                 {"grad_norm", number(report.gradNorm)},
                 {"step_ms", number(report.milliseconds)}};
    if (!report.firstBad.empty())
      line["first_bad"] = report.firstBad;
    return inputs.folder.appendMetrics(toLine(line));
  }

  Status validate() {
    Result<EvalResult> result =
        evaluate(*inputs.session, *inputs.validation, notice);
    HALFTONE_RETURN_IF_ERROR(result);
    lastValidation = {{"step", inputs.info.step},
                      {"loss", number(result->loss)},
                      {"count", result->count}};
    std::string text = fmt::format("validation after step {}: loss {}",
                                   inputs.info.step, lossText(result->loss));
    if (result->accuracy) {
      lastValidation["accuracy"] = *result->accuracy;
      text += fmt::format("  accuracy {:.4f}", *result->accuracy);
    }
    progress.say(text);
    if (!result->noLoss.empty())
      notice(fmt::format("validation after step {} has no finite loss: {}",
                         inputs.info.step, result->noLoss));
    return inputs.folder.appendValidation(toLine(lastValidation));
  }

  Status save() {
    HALFTONE_RETURN_IF_ERROR(
        saveWeights(inputs.session->executor(), inputs.folder.weights()));
    return inputs.info.step == savedStep ? Status() : keepCheckpoint();
  }

  Status keepCheckpoint() {
    clock.begin();
    HALFTONE_RETURN_IF_ERROR(saveCheckpoint(
        *inputs.session, inputs.folder.checkpoint(), inputs.info));
    HALFTONE_RETURN_IF_ERROR(inputs.folder.keep());
    savedStep = inputs.info.step;
    clock.end();
    return {};
  }

  Status printSummary(int64_t stepsRun) {
    Result<MemoryInfo> memory = inputs.session->device().memory();
    HALFTONE_RETURN_IF_ERROR(memory);
    Json summary = {
        {"steps", inputs.info.step},
        {"applied", inputs.info.applied},
        {"skipped", inputs.info.step - inputs.info.applied},
        {"final_loss", number(finalLoss)},
        {"loss", losses},
        {"peak_bytes", memory->peakBytes},
        {"steps_per_second",
         number(seconds > 0 ? static_cast<double>(stepsRun) / seconds : 0)},
        {"out", inputs.folder.path().string()}};
    if (!lastValidation.is_null())
      summary["validation"] = lastValidation;
    if (interrupted)
      summary["interrupted"] = true;
    printJson(summary);
    return {};
  }

  TrainInputs inputs;
  NoticeSink notice;
  int64_t appliedBefore, savedStep;
  Progress progress;
  CheckpointClock clock;
  double finalLoss = NAN, seconds = 0; ///< Without saving.
  Json losses = Json::array(), lastValidation;
};
} // namespace

Result<int> train(const TrainOptions &options) {
  Notices notices;
  Result<TrainInputs> inputs = TrainInputs::open(options, notices.sink());
  HALFTONE_RETURN_IF_ERROR(inputs);
  notices.release();
  return TrainRun(std::move(*inputs), notices.sink()).run();
}

} // namespace halftone::run
