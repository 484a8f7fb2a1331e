// SPDX-License-Identifier: Apache-2.0
// Printing.
#include "tools/halftone-run/Output.h"

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace halftone::run {

namespace {
constexpr int kBarWidth = 30;
constexpr auto kRedraw = std::chrono::milliseconds(50);

int outputError = 0;

std::string describe(const runtime::StepReport &report) {
  std::string text = "loss " + lossText(report.loss);
  if (!std::isnan(report.lr))
    text += fmt::format("  lr {:g}", report.lr);
  if (report.scale != 1)
    text += fmt::format("  scale {:g}", report.scale);
  text += fmt::format("  {:.2f} ms", report.milliseconds);
  if (!report.applied)
    text += report.firstBad.empty()
                ? "  skipped: gradients not finite"
                : fmt::format("  skipped: gradient of '{}' not finite",
                              report.firstBad);
  return text;
}
} // namespace

void ignoreWriteSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void put(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0)
    return;
  if (outputError == 0)
    outputError = errno;
}

runtime::Status outputStatus() {
  if (outputError == 0)
    return {};
  return runtime::failed(fmt::format("cannot write to the standard output: {}",
                                     std::strerror(outputError)));
}

void putError(std::string_view line) {
  std::string text = fmt::format("{}\n", line);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

runtime::NoticeSink Notices::sink() const {
  return [state = state](const std::string &text) {
    if (!state->seen.insert(text).second)
      return;
    if (state->isReleased)
      putError("note: " + text);
    else
      state->held.push_back(text);
  };
}

void Notices::release() {
  state->isReleased = true;
  for (const std::string &text : std::exchange(state->held, {}))
    putError("note: " + text);
}

std::string lossText(double loss) {
  return std::isnan(loss) ? "nan" : fmt::format("{:.6f}", loss);
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

std::string toLine(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void printJson(const Json &json) { put(toLine(json)); }

Progress::Progress(int64_t totalSteps)
    : total(totalSteps), isTerminal(isatty(STDOUT_FILENO) != 0) {}

void Progress::show(const runtime::StepReport &report) {
  if (!isTerminal) {
    put(fmt::format("step {}/{}  {}\n", report.step, total, describe(report)));
    return;
  }
  auto now = std::chrono::steady_clock::now();
  if (isOpen && report.step != total && now - lastDrawn < kRedraw)
    return;
  lastDrawn = now;
  int filled =
      static_cast<int>(kBarWidth * report.step / std::max<int64_t>(total, 1));
  put(fmt::format("\r\x1b[K[{:<{}}] {}/{}  {}", std::string(filled, '='),
                  kBarWidth, report.step, total, describe(report)));
  isOpen = true;
}

void Progress::say(const std::string &line) {
  close();
  put(line + "\n");
}

void Progress::close() {
  if (std::exchange(isOpen, false))
    put("\n");
}

} // namespace halftone::run
