// SPDX-License-Identifier: Apache-2.0
// Printing.
#include "tools/halftone-run/Output.h"

#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <unistd.h>

namespace halftone::run {

namespace {
constexpr int kBarWidth = 30;
constexpr auto kRedraw = std::chrono::milliseconds(50);

std::string describe(const runtime::StepReport &report) {
  std::string text = fmt::format("loss {:.6f}", report.loss);
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

runtime::NoticeSink noticePrinter() {
  auto seen = std::make_shared<std::set<std::string>>();
  return [seen](const std::string &text) {
    if (seen->insert(text).second)
      fmt::print(stderr, "note: {}\n", text);
  };
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

std::string toLine(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void printJson(const Json &json) {
  fmt::print("{}", toLine(json));
  std::fflush(stdout);
}

Progress::Progress(int64_t totalSteps)
    : total(totalSteps), isTerminal(isatty(STDOUT_FILENO) != 0) {}

void Progress::show(const runtime::StepReport &report) {
  if (!isTerminal) {
    fmt::print("step {}/{}  {}\n", report.step, total, describe(report));
    std::fflush(stdout);
    return;
  }
  auto now = std::chrono::steady_clock::now();
  if (isOpen && report.step != total && now - lastDrawn < kRedraw)
    return;
  lastDrawn = now;
  int filled =
      static_cast<int>(kBarWidth * report.step / std::max<int64_t>(total, 1));
  fmt::print("\r\x1b[K[{:<{}}] {}/{}  {}", std::string(filled, '='), kBarWidth,
             report.step, total, describe(report));
  std::fflush(stdout);
  isOpen = true;
}

void Progress::say(const std::string &line) {
  close();
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void Progress::close() {
  if (std::exchange(isOpen, false))
    fmt::print("\n");
}

} // namespace halftone::run
