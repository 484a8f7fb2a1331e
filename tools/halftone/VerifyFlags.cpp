// SPDX-License-Identifier: Apache-2.0
// Which flags go together, and the numbers that each may have: two tables.
#include "tools/halftone/VerifyFlags.h"
#include <cfloat>
#include <climits>
#include <cmath>
#include <fmt/format.h>

namespace halftone::tools {
namespace {

using passes::LossKind, passes::LossScaleMode, passes::OptimizerKind;

class Complaints {
public:
  void add(const std::string &text) { all += (all.empty() ? "" : "; ") + text; }
  llvm::Error error() const {
    return all.empty() ? llvm::Error::success() : llvm::createStringError(all);
  }

private:
  std::string all;
};

void verifyCompany(const CompileFlags &f, const CompileRequest &request,
                   Complaints &complaints) {
  LossKind loss = request.compile.loss.kind;
  OptimizerKind optimizer = request.compile.optimizer.kind;
  LossScaleMode scale = request.compile.lossScale.mode;
  // What `auto` decides is no contradiction: a script may give its flags for
  // every precision.
  bool scaled = scale != LossScaleMode::Off || f.lossScale == "auto",
       dynamic = scale == LossScaleMode::Dynamic || f.lossScale == "auto";
  const bool classes = loss == LossKind::CrossEntropy,
             sgd = optimizer == OptimizerKind::Sgd;
  constexpr char kClasses[] = "belongs to --loss cross_entropy",
                 kSgd[] = "belongs to --optimizer sgd",
                 kAdam[] = "belongs to --optimizer adam or adamw",
                 kDynamic[] = "belongs to --loss-scale dynamic";
  const struct {
    const char *flag;
    bool given, useful;
    const char *why;
  } rules[] = {
      {"--shift", f.shift.has_value(), !f.targetFrom.empty(),
       "needs --target-from INPUT, whose values it shifts"},
      {"--target-from", !f.targetFrom.empty(), classes, kClasses},
      {"--class-axis", f.classAxis.has_value(), classes, kClasses},
      {"--ignore-index", f.ignoreIndex.has_value(), classes, kClasses},
      {"--logits", !f.logits.empty(), loss != LossKind::Output,
       "belongs to a loss that reads logits; --loss output:NAME reads NAME"},
      {"--momentum", f.momentum.has_value(), sgd, kSgd},
      {"--nesterov", f.nesterov, sgd, kSgd},
      {"--nesterov", f.nesterov && sgd, request.compile.optimizer.momentum != 0,
       "needs --momentum"},
      {"--betas", !f.betas.empty(), !sgd, kAdam},
      {"--eps", f.eps.has_value(), !sgd, kAdam},
      {"--scale-init", f.scaleInit.has_value(), scaled,
       "does nothing with --loss-scale off"},
      {"--scale-init", f.scaleInit.has_value(),
       f.lossScale.find(':') == std::string::npos,
       "and a value in --loss-scale are two first scales"},
      {"--scale-growth", f.scaleGrowth.has_value(), dynamic, kDynamic},
      {"--scale-backoff", f.scaleBackoff.has_value(), dynamic, kDynamic},
      {"--scale-interval", f.scaleInterval.has_value(), dynamic, kDynamic},
      {"--scale-min", f.scaleMin.has_value(), dynamic, kDynamic},
      {"--scale-max", f.scaleMax.has_value(), dynamic, kDynamic},
  };
  for (const auto &rule : rules)
    if (rule.given && !rule.useful)
      complaints.add(fmt::format("{} {}", rule.flag, rule.why));
}

void verifyWhole(const CompileFlags &f, Complaints &complaints) {
  constexpr int64_t kCounted = 1 << 24; // steps are counted in float32
  const struct {
    const char *flag;
    std::optional<int64_t> value;
    int64_t least, most;
  } rules[] = {{"--batch", f.batch, 1, INT_MAX},
               {"--class-axis", f.classAxis, INT_MIN, INT_MAX},
               {"--ignore-index", f.ignoreIndex, INT_MIN, INT_MAX},
               {"--shift", f.shift, 0, INT_MAX},
               {"--scale-interval", f.scaleInterval, 1, kCounted}};
  for (const auto &rule : rules)
    if (rule.value && (*rule.value < rule.least || *rule.value > rule.most))
      complaints.add(fmt::format("{} {}: expected {} to {}", rule.flag,
                                 *rule.value, rule.least, rule.most));
}

/// Everything is computed in float32: what it cannot hold would become 0, 1 or
/// infinite.
void verifyReal(const CompileFlags &f, const CompileRequest &request,
                Complaints &complaints) {
  const passes::OptimizerOptions &o = request.compile.optimizer;
  const passes::LossScaleOptions &s = request.compile.lossScale;
  constexpr double kMost = FLT_MAX, kTiny = FLT_MIN, kBelowOne = 1 - 0x1p-24;
  const struct {
    const char *flag;
    double value, least, most;
  } rules[] = {
      {"--lr", o.learningRate, 0, kMost},
      {"--momentum", o.momentum, 0, kMost},
      {"--weight-decay", o.weightDecay, 0, kMost},
      {"--eps", o.epsilon, kTiny, kMost},
      {"--betas", o.beta1, 0, kBelowOne},
      {"--betas", o.beta2, 0, kBelowOne},
      {f.scaleInit ? "--scale-init" : "--loss-scale", s.init, kTiny, kMost},
      {"--scale-growth", s.growth, 1, kMost},
      {"--scale-backoff", s.backoff, kTiny, kBelowOne},
      {"--scale-min", s.minimum, kTiny, kMost},
      {"--scale-max", s.maximum, kTiny, kMost}};
  for (const auto &rule : rules)
    if (!std::isfinite(rule.value))
      complaints.add(fmt::format("{} {}: expected a finite number", rule.flag,
                                 rule.value));
    else if (rule.value < rule.least || rule.value > rule.most)
      complaints.add(fmt::format("{} {}: expected {:.8g} to {:.8g}", rule.flag,
                                 rule.value, rule.least, rule.most));
  if (s.maximum < s.minimum)
    complaints.add(fmt::format("--scale-max {} is below --scale-min {}",
                               s.maximum, s.minimum));
}

} // namespace

llvm::Error verifyFlags(const CompileFlags &flags,
                        const CompileRequest &request) {
  Complaints complaints;
  verifyCompany(flags, request, complaints);
  verifyWhole(flags, complaints);
  verifyReal(flags, request, complaints);
  return complaints.error();
}

std::vector<std::string> idleFlags(const CompileFlags &f,
                                   const CompileRequest &request) {
  const passes::PrecisionOptions &precision = request.compile.precision;
  // The lists choose among types; a colour chooses by itself.
  const bool oneType = precision.precision == passes::Color::Fp32,
             colored = llvm::any_of(precision.colors, [](const auto &entry) {
               return entry.color != passes::Color::Fp32;
             });
  const bool unscaled = request.compile.lossScale.mode == LossScaleMode::Off;
  const struct {
    const char *flag;
    bool given, idle;
  } rules[] = {
      {"--allow", !f.allow.empty(), oneType},
      {"--infer", !f.infer.empty(), oneType},
      {"--deny", !f.deny.empty(), oneType},
      {"--clear", !f.clear.empty(), oneType},
      {"--color", !f.colors.empty(), oneType && !colored},
      {"--scale-init", f.scaleInit.has_value(), unscaled},
      {"--scale-growth", f.scaleGrowth.has_value(), unscaled},
      {"--scale-backoff", f.scaleBackoff.has_value(), unscaled},
      {"--scale-interval", f.scaleInterval.has_value(), unscaled},
      {"--scale-min", f.scaleMin.has_value(), unscaled},
      {"--scale-max", f.scaleMax.has_value(), unscaled},
  };
  std::vector<std::string> idle;
  for (const auto &rule : rules)
    if (rule.given && rule.idle)
      idle.push_back(fmt::format("{} has no effect with --precision {}",
                                 rule.flag, request.precisionName));
  return idle;
}

CLI::Validator wholeNumber() {
  return CLI::Validator(
      [](std::string &text) {
        int64_t value;
        return llvm::StringRef(text).getAsInteger(10, value)
                   ? fmt::format("'{}' is no whole number of 64 bits", text)
                   : std::string();
      },
      "");
}

} // namespace halftone::tools
