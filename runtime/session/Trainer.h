// SPDX-License-Identifier: Apache-2.0
// The training loop's inner half: queues steps without waiting for them, and
// reports each when it is done.
#pragma once

#include "runtime/data/BatchOrder.h"
#include "runtime/session/InputFeed.h"
#include "runtime/session/Session.h"

#include <array>
#include <chrono>
#include <deque>

namespace halftone::runtime {

/// What one step did. Numbers that the plan does not keep are NaN.
struct StepReport {
  int64_t step = 0; ///< Counted from 1.
  double loss = 0;  ///< Before the update.
  double lr = 0;    ///< That the step used.
  double scale = 0; ///< The loss scale that the step used; 1 without one.
  bool applied =
      true; ///< False: gradients were not finite, and nothing was changed.
  double gradNorm = 0; ///< Unscaled.
  double milliseconds = 0;
  /// Where a step was skipped and its gradients were still there to look at:
  /// the first parameter whose gradient is not finite.
  std::string firstBad;
};

using ReportSink = std::function<Status(const StepReport &)>;

class Trainer {
public:
  /// Skipped steps in a row that are borne while the loss scale cannot fall any
  /// further.
  static constexpr int kMaxStuckSkips = 5;

  /// Steps count from `stepsDone`. Session and data outlive the trainer.
  static Result<std::unique_ptr<Trainer>> create(Session &session,
                                                 const DataSet &data,
                                                 BatchOrder order,
                                                 int64_t stepsDone = 0);

  /// What is still queued uses the feed's memory and the numbers'.
  ~Trainer() { (void)session.device().synchronize(); }

  int64_t stepsQueued() const { return queued; }

  /// Queues the next step and reports those that are done by then. Fails with
  /// StatusCode::NonFinite, naming the first tensor that is not finite, after
  /// kMaxStuckSkips; then every step that was queued is done and reported, and
  /// none of those behind the first of these skips was applied.
  Status step(const ReportSink &sink);
  /// Waits for all steps and reports them. Fails as step() does.
  Status finish(const ReportSink &sink);
  /// For the end of a run that is finished: fails with StatusCode::NonFinite
  /// where there were steps and each was skipped.
  Status checkTrained();

private:
  /// The numbers of one step, in the order they are stored.
  enum Number { kScale, kRate, kLoss, kFoundInf, kGradNorm, kNumbers };
  static constexpr size_t kDepth = 8;
  static constexpr size_t kNumberBytes = 8;

  struct Pending {
    int64_t step;
    size_t slot;
    std::shared_ptr<Event> done;
  };

  Trainer(Session &session, const DataSet &data, BatchOrder order,
          InputFeed feed)
      : session(session), data(data), order(std::move(order)),
        feed(std::move(feed)) {}

  void findNumbers();
  Status queueNumber(Number number, size_t slot);
  Status report(const ReportSink &sink);
  double number(Number which, size_t slot, double absent) const;
  void watchSkips(const StepReport &report);
  Status giveUpWhereStuck(const ReportSink &sink);
  Status nothingHelps();

  Session &session;
  const DataSet &data;
  BatchOrder order;
  InputFeed feed;
  std::array<std::optional<uint32_t>, kNumbers> buffers;
  Memory staging;
  std::deque<Pending> pending;
  int64_t queued = 0;
  int64_t reported = 0, applied = 0;
  int stuckSkips = 0; ///< In a row, at the same scale.
  double firstScale = -1, lastSkippedScale = -1;
  std::chrono::steady_clock::time_point lastReport;
};

} // namespace halftone::runtime
