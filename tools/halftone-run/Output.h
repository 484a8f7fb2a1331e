// SPDX-License-Identifier: Apache-2.0
// What halftone-run prints: notices on stderr, progress and one JSON line on
// stdout. Nothing here throws; whether stdout took everything is asked last.
#pragma once

#include "runtime/base/Notice.h"
#include "runtime/session/Trainer.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace halftone::run {

using Json = nlohmann::ordered_json;

/// Makes writing to a closed pipe or beyond a file size limit a failed write
/// like any other, from here on.
void ignoreWriteSignals();

/// Writes to stdout, at once.
void put(std::string_view text);
/// The first failure of a write to stdout so far.
runtime::Status outputStatus();
/// Writes a line to stderr, as far as that is possible.
void putError(std::string_view line);

/// Prints notices to stderr, each text once. The first ones are held back until
/// it is known that there will be no refusal, which then stands alone.
class Notices {
public:
  runtime::NoticeSink sink() const;
  /// Prints what was held back, and from now on everything at once.
  void release();

private:
  struct State {
    std::vector<std::string> held;
    std::set<std::string> seen;
    bool isReleased = false;
  };
  std::shared_ptr<State> state = std::make_shared<State>();
};

/// The value as JSON; null where it is not finite.
Json number(double value);

/// A loss as people read it; one that is not a number has no sign.
std::string lossText(double loss);

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
