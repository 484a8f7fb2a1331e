// SPDX-License-Identifier: Apache-2.0
// Steps in flight: each has a slot of staging memory that receives its few
// numbers.
#include "runtime/session/Trainer.h"

#include "runtime/session/NonFinite.h"

#include <cmath>
#include <fmt/format.h>

namespace halftone::runtime {

Result<std::unique_ptr<Trainer>> Trainer::create(Session &session,
                                                 const DataSet &data,
                                                 BatchOrder order,
                                                 int64_t stepsDone) {
  InputFeed feed(session.executor(), ProgramKind::Train, data);
  std::unique_ptr<Trainer> trainer(
      new Trainer(session, data, std::move(order), std::move(feed)));
  Result<Memory> staging =
      session.device().allocateStaging(kDepth * kNumbers * kNumberBytes);
  HALFTONE_RETURN_IF_ERROR(staging);
  trainer->staging = std::move(*staging);
  trainer->queued = stepsDone;
  trainer->findNumbers();
  if (!trainer->buffers[kLoss])
    return invalidInput("the plan has no train program with an output 'loss'");
  return trainer;
}

void Trainer::findNumbers() {
  const Plan &plan = session.plan();
  auto state = [&](std::string_view name) -> std::optional<uint32_t> {
    const State *found = plan.findState(name);
    return found ? std::optional(found->buffer) : findOutput(plan.train, name);
  };
  buffers = {state("loss_scale"), state("learning_rate"),
             findOutput(plan.train, "loss"), state("found_inf"),
             state("grad_norm")};
  for (std::optional<uint32_t> &buffer : buffers)
    if (buffer && plan.buffers[*buffer].elements == 0)
      buffer.reset();
}

Status Trainer::queueNumber(Number which, size_t slot) {
  if (!buffers[which])
    return {};
  auto *target = static_cast<std::byte *>(staging.data()) +
                 (slot * kNumbers + which) * kNumberBytes;
  return session.device().download(
      Queue::Compute, target, session.executor().address(*buffers[which]),
      elementSize(session.plan().buffers[*buffers[which]].type));
}

Status Trainer::step(const ReportSink &sink) {
  if (pending.size() == kDepth) {
    HALFTONE_RETURN_IF_ERROR(report(sink));
    HALFTONE_RETURN_IF_ERROR(giveUpWhereStuck(sink));
  }
  if (pending.empty())
    lastReport = std::chrono::steady_clock::now();
  size_t slot = static_cast<size_t>(queued) % kDepth;
  HALFTONE_RETURN_IF_ERROR(feed.feed(order.batchOf(queued)));
  HALFTONE_RETURN_IF_ERROR(queueNumber(kScale, slot));
  HALFTONE_RETURN_IF_ERROR(queueNumber(kRate, slot));
  HALFTONE_RETURN_IF_ERROR(session.executor().run(ProgramKind::Train));
  for (Number which : {kLoss, kFoundInf, kGradNorm})
    HALFTONE_RETURN_IF_ERROR(queueNumber(which, slot));
  Result<std::shared_ptr<Event>> done = session.device().record(Queue::Compute);
  HALFTONE_RETURN_IF_ERROR(done);
  pending.push_back({++queued, slot, std::move(*done)});
  while (!pending.empty() && pending.front().done->ready())
    HALFTONE_RETURN_IF_ERROR(report(sink));
  return giveUpWhereStuck(sink);
}

Status Trainer::finish(const ReportSink &sink) {
  while (!pending.empty())
    HALFTONE_RETURN_IF_ERROR(report(sink));
  return stuckSkips < kMaxStuckSkips ? Status() : nothingHelps();
}

/// Steps that were queued behind the skips count too: they have run, and where
/// one of them was applied, something helps.
Status Trainer::giveUpWhereStuck(const ReportSink &sink) {
  return stuckSkips < kMaxStuckSkips ? Status() : finish(sink);
}

double Trainer::number(Number which, size_t slot, double absent) const {
  if (!buffers[which])
    return absent;
  auto *source = static_cast<const std::byte *>(staging.data()) +
                 (slot * kNumbers + which) * kNumberBytes;
  return decodeNumber(session.plan().buffers[*buffers[which]].type, source);
}

Status Trainer::report(const ReportSink &sink) {
  Pending front = std::move(pending.front());
  pending.pop_front();
  HALFTONE_RETURN_IF_ERROR(front.done->wait());
  StepReport report;
  report.step = front.step;
  report.loss = number(kLoss, front.slot, NAN);
  report.lr = number(kRate, front.slot, NAN);
  report.scale = number(kScale, front.slot, 1);
  report.applied = number(kFoundInf, front.slot, 0) == 0;
  report.gradNorm = number(kGradNorm, front.slot, NAN);
  auto now = std::chrono::steady_clock::now();
  report.milliseconds =
      std::chrono::duration<double, std::milli>(now - lastReport).count();
  lastReport = now;
  if (!report.applied && front.step == queued) {
    Result<std::string> name = firstBadGradient(session.executor());
    HALFTONE_RETURN_IF_ERROR(name);
    report.firstBad = std::move(*name);
  }
  watchSkips(report);
  return sink(report);
}

void Trainer::watchSkips(const StepReport &report) {
  ++reported;
  applied += report.applied;
  if (report.applied) {
    stuckSkips = 0;
    lastSkippedScale = -1;
    return;
  }
  if (lastSkippedScale < 0)
    firstScale = report.scale;
  stuckSkips = report.scale == lastSkippedScale ? stuckSkips + 1 : 1;
  lastSkippedScale = report.scale;
}

Status Trainer::checkTrained() {
  return reported == 0 || applied > 0 ? Status() : nothingHelps();
}

Status Trainer::nothingHelps() {
  Result<FirstNonFinite> culprit = findFirstNonFinite(
      session.executor(), ProgramKind::Train, data, order.batchOf(queued - 1));
  HALFTONE_RETURN_IF_ERROR(culprit);
  std::string text =
      applied == 0
          ? fmt::format("nothing was trained: each of the {} steps was "
                        "skipped, because its gradients were not finite",
                        reported)
          : fmt::format("stopped at step {}: {} steps in a row were skipped, "
                        "because their gradients were not finite",
                        queued, stuckSkips);
  bool isFalling = stuckSkips < kMaxStuckSkips && lastSkippedScale < firstScale;
  text += ": " + culprit->text;
  using Where = FirstNonFinite::Where;
  if (isFalling && culprit->where != Where::Data &&
      culprit->where != Where::Weights)
    text += fmt::format("; or the loss scale, {} in the last step, still has "
                        "to fall: train more steps, or compile with a smaller "
                        "--scale-init",
                        lastSkippedScale);
  else if (session.plan().findState("loss_scale"))
    text += fmt::format(" (the loss scale is {})", lastSkippedScale);
  return {StatusCode::NonFinite, text};
}

} // namespace halftone::runtime
