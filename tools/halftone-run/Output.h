// SPDX-License-Identifier: Apache-2.0
// What halftone-run prints: notices on stderr, progress and one JSON line on
// stdout.
#pragma once

#include "runtime/base/Notice.h"
#include "runtime/session/Trainer.h"

#include <nlohmann/json.hpp>

namespace halftone::run {

using Json = nlohmann::ordered_json;

/// Prints notices to stderr, each text once.
runtime::NoticeSink noticePrinter();

/// The value as JSON; null where it is not finite.
Json number(double value);

/// One line on stdout.
void printJson(const Json &json);
std::string toLine(const Json &json);

/// A line a step, or a bar that redraws itself where stdout is a terminal.
class Progress {
public:
  explicit Progress(int64_t totalSteps);
  void show(const runtime::StepReport &report);
  /// Any other line.
  void say(const std::string &line);
  /// Ends the bar's line.
  void close();

private:
  int64_t total;
  bool isTerminal;
  bool isOpen = false;
  std::chrono::steady_clock::time_point lastDrawn;
};

} // namespace halftone::run
