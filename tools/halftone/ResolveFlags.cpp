// SPDX-License-Identifier: Apache-2.0
// What the flags of `halftone compile` mean; every refusal names the option,
// its value and what is allowed.
#include "runtime/device/Device.h"
#include "tools/halftone/CompileFlags.h"
#include "tools/halftone/VerifyFlags.h"
#include <climits>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <tuple>

namespace halftone::tools {
namespace {

llvm::Error refuse(const std::string &message) {
  return llvm::createStringError(message);
}

std::optional<int64_t> parseInt(const std::string &text) {
  int64_t value;
  return llvm::StringRef(text).getAsInteger(10, value) ? std::nullopt
                                                       : std::optional(value);
}
std::optional<double> parseDouble(const std::string &text) {
  double value;
  return llvm::StringRef(text).getAsDouble(value) ? std::nullopt
                                                  : std::optional(value);
}

/// Kernels for GPUs of no known kind are for this architecture and newer ones.
constexpr unsigned kDefaultSm = 90;
/// Plans can be compiled for GPUs up to this one: there is no architecture of
/// three digits beyond.
constexpr unsigned kGreatestSm = 199;

/// The architecture of the first GPU here that plans run on; none without one.
std::optional<unsigned> visibleSm() {
  for (const runtime::DeviceInfo &info : runtime::listDevices(false)) {
    unsigned sm = 0;
    llvm::StringRef architecture = info.architecture;
    if (info.target == "cuda" && architecture.consume_front("sm_") &&
        !architecture.getAsInteger(10, sm) && sm >= runtime::kLeastSm)
      return sm;
  }
  return std::nullopt;
}

llvm::Error resolveTarget(const CompileFlags &flags, CompileRequest &request) {
  llvm::StringRef target = flags.target;
  std::optional<unsigned> visible;
  if (target.empty() || target == "cuda")
    visible = visibleSm();
  if (target.empty())
    target = visible ? "cuda" : "cpu";
  if (target == "cpu") {
    request.targetName = "cpu";
    return llvm::Error::success();
  }
  unsigned sm = visible.value_or(kDefaultSm);
  bool known =
      target == "cuda" ||
      (target.consume_front("cuda:sm_") && !target.getAsInteger(10, sm) &&
       sm >= runtime::kLeastSm && sm <= kGreatestSm);
  if (!known)
    return refuse(fmt::format(
        "--target {}: expected cpu, cuda, or cuda:sm_NN with NN from {} to {}",
        flags.target, runtime::kLeastSm, kGreatestSm));
  request.targetName = "cuda";
  request.architecture = fmt::format("sm_{}", sm);
  request.compile.target = {codegen::TargetSpec::Kind::Cuda, sm};
  return llvm::Error::success();
}

llvm::Error resolveImport(const CompileFlags &flags, CompileRequest &request) {
  for (const std::string &dim : flags.dims) {
    size_t equals = dim.rfind('=');
    auto extent = equals == std::string::npos
                      ? std::nullopt
                      : parseInt(dim.substr(equals + 1));
    if (!extent || *extent < 1 || *extent > INT_MAX || equals == 0)
      return refuse(fmt::format("--dim {}: expected NAME=N with N from 1 to {}",
                                dim, INT_MAX));
    request.import.dims.emplace_back(dim.substr(0, equals), *extent);
  }
  for (const auto *list : {&flags.freeze, &flags.train})
    for (const std::string &pattern : *list)
      try {
        std::ignore = std::regex(pattern);
      } catch (const std::regex_error &error) {
        return refuse(fmt::format("'{}' is no regular expression: {}", pattern,
                                  error.what()));
      }
  request.import.batch = flags.batch;
  request.import.keepCasts = flags.keepCasts;
  request.import.freeze = flags.freeze;
  request.import.train = flags.train;
  llvm::StringRef init = flags.init;
  if (init.consume_front("random")) {
    request.randomInit = request.import.randomInit = true;
    if (!init.empty() &&
        (!init.consume_front(":") || init.getAsInteger(10, request.seed)))
      return refuse(fmt::format(
          "--init {}: expected weights, random, or random:SEED", flags.init));
  } else if (init != "weights") {
    return refuse(fmt::format(
        "--init {}: expected weights, random, or random:SEED", flags.init));
  }
  return llvm::Error::success();
}

llvm::Error resolveLoss(const CompileFlags &flags, passes::LossOptions &loss) {
  llvm::StringRef name = flags.loss;
  if (name.consume_front("output:")) {
    loss.kind = passes::LossKind::Output;
    loss.output = name.str();
  } else {
    auto kind = passes::parseLossKind(name);
    if (!kind || *kind == passes::LossKind::Output)
      return refuse(fmt::format("--loss {}: expected cross_entropy, mse, l1, "
                                "bce_with_logits, or output:NAME",
                                flags.loss));
    loss.kind = *kind;
  }
  loss.logits = flags.logits;
  loss.classAxis = flags.classAxis;
  loss.ignoreIndex = flags.ignoreIndex.value_or(loss.ignoreIndex);
  loss.targetFrom = flags.targetFrom;
  loss.shift = flags.shift.value_or(0);
  return llvm::Error::success();
}

llvm::Error resolveOptimizer(const CompileFlags &flags,
                             passes::OptimizerOptions &o) {
  if (flags.optimizer == "sgd")
    o.kind = passes::OptimizerKind::Sgd;
  else if (flags.optimizer == "adam")
    o.kind = passes::OptimizerKind::Adam;
  else if (flags.optimizer == "adamw")
    o.kind = passes::OptimizerKind::AdamW;
  else
    return refuse(fmt::format("--optimizer {}: expected sgd, adam or adamw",
                              flags.optimizer));
  bool sgd = o.kind == passes::OptimizerKind::Sgd;
  // PyTorch's defaults.
  o.learningRate = flags.lr.value_or(sgd ? 0.01 : 1e-3);
  o.momentum = flags.momentum.value_or(0);
  o.nesterov = flags.nesterov;
  o.weightDecay = flags.weightDecay.value_or(
      o.kind == passes::OptimizerKind::AdamW ? 0.01 : 0);
  o.epsilon = flags.eps.value_or(1e-8);
  if (!flags.betas.empty()) {
    size_t comma = flags.betas.find(',');
    auto first = parseDouble(flags.betas.substr(0, comma));
    auto second = comma == std::string::npos
                      ? std::nullopt
                      : parseDouble(flags.betas.substr(comma + 1));
    if (!first || !second)
      return refuse(
          fmt::format("--betas {}: expected two numbers A,B", flags.betas));
    o.beta1 = *first;
    o.beta2 = *second;
  }
  return llvm::Error::success();
}

llvm::Error resolveLossScale(const CompileFlags &flags, bool fp16,
                             passes::LossScaleOptions &scale) {
  llvm::StringRef mode = flags.lossScale;
  auto number = [&](llvm::StringRef text) -> llvm::Error {
    auto value = parseDouble(text.str());
    if (!value || !(*value > 0))
      return refuse(fmt::format("--loss-scale {}: expected a positive number",
                                flags.lossScale));
    scale.init = *value;
    return llvm::Error::success();
  };
  scale.init = flags.scaleInit.value_or(scale.init);
  scale.growth = flags.scaleGrowth.value_or(scale.growth);
  scale.backoff = flags.scaleBackoff.value_or(scale.backoff);
  scale.interval = flags.scaleInterval.value_or(scale.interval);
  scale.minimum = flags.scaleMin.value_or(scale.minimum);
  scale.maximum = flags.scaleMax.value_or(scale.maximum);
  if (mode == "auto") {
    scale.mode =
        fp16 ? passes::LossScaleMode::Dynamic : passes::LossScaleMode::Off;
  } else if (mode == "off") {
    scale.mode = passes::LossScaleMode::Off;
  } else if (mode.consume_front("static:")) {
    scale.mode = passes::LossScaleMode::Static;
    if (auto error = number(mode))
      return error;
  } else if (mode.consume_front("dynamic")) {
    scale.mode = passes::LossScaleMode::Dynamic;
    if (!mode.empty() && !mode.consume_front(":"))
      return refuse(fmt::format(
          "--loss-scale {}: expected auto, off, static:X, or dynamic[:INIT]",
          flags.lossScale));
    if (!mode.empty())
      if (auto error = number(mode))
        return error;
  } else {
    return refuse(fmt::format(
        "--loss-scale {}: expected auto, off, static:X, or dynamic[:INIT]",
        flags.lossScale));
  }
  return llvm::Error::success();
}

llvm::Error resolvePrecision(const CompileFlags &flags,
                             CompileRequest &request) {
  // auto: BF16 has FP32's range and needs no loss scale; a CPU gains nothing
  // from either.
  request.precisionName = flags.precision == "auto"
                              ? (request.targetName == "cuda" ? "bf16" : "fp32")
                              : flags.precision;
  auto precision = passes::parseColor(request.precisionName);
  if (!precision)
    return refuse(
        fmt::format("--precision {}: expected auto, fp32, tf32, fp16 or bf16",
                    flags.precision));
  passes::PrecisionOptions &options = request.compile.precision;
  options.precision = *precision;
  using List = std::pair<const std::vector<std::string> *, PrecisionClass>;
  for (auto [names, list] : {List(&flags.allow, PrecisionClass::Allow),
                             List(&flags.infer, PrecisionClass::Infer),
                             List(&flags.deny, PrecisionClass::Deny),
                             List(&flags.clear, PrecisionClass::Clear)})
    for (const std::string &name : *names)
      options.lists.push_back({name, list});
  for (const std::string &text : flags.colors) {
    auto entry = passes::parseColorEntry(text);
    if (!entry)
      return refuse(fmt::format(
          "--color {}: expected REGEX=fp16, REGEX=bf16 or REGEX=fp32", text));
    options.colors.push_back(*entry);
  }
  return llvm::Error::success();
}

std::string recipe(const CompileFlags &flags, const CompileRequest &request) {
  const passes::OptimizerOptions &o = request.compile.optimizer;
  const passes::LossScaleOptions &s = request.compile.lossScale;
  nlohmann::ordered_json json = {{"loss", flags.loss},
                                 {"optimizer", flags.optimizer},
                                 {"lr", o.learningRate},
                                 {"weight_decay", o.weightDecay},
                                 {"precision", request.precisionName},
                                 {"batch_norm", flags.batchNorm},
                                 {"dropout", flags.dropout}};
  if (flags.optimizer == "sgd") {
    json["momentum"] = o.momentum;
    json["nesterov"] = o.nesterov;
  } else {
    json["betas"] = {o.beta1, o.beta2};
    json["eps"] = o.epsilon;
  }
  if (s.mode == passes::LossScaleMode::Off)
    json["loss_scale"] = "off";
  else if (s.mode == passes::LossScaleMode::Static)
    json["loss_scale"] = {{"mode", "static"}, {"init", s.init}};
  else
    json["loss_scale"] = {{"mode", "dynamic"},      {"init", s.init},
                          {"growth", s.growth},     {"backoff", s.backoff},
                          {"interval", s.interval}, {"min", s.minimum},
                          {"max", s.maximum}};
  return json.dump();
}

} // namespace

llvm::Expected<CompileRequest> resolve(const CompileFlags &flags) {
  CompileRequest request;
  passes::CompileOptions &options = request.compile;
  if (auto error = resolveTarget(flags, request))
    return error;
  if (auto error = resolveImport(flags, request))
    return error;
  if (auto error = resolveLoss(flags, options.loss))
    return error;
  if (auto error = resolveOptimizer(flags, options.optimizer))
    return error;
  if (auto error = resolvePrecision(flags, request))
    return error;
  if (auto error = resolveLossScale(flags, request.precisionName == "fp16",
                                    options.lossScale))
    return error;
  if (auto error = verifyFlags(flags, request))
    return error;
  options.normalize.trainBatchNorm = request.import.trainBatchNorm =
      flags.batchNorm == "train";
  options.normalize.dropout = request.import.dropout = flags.dropout == "on";
  bool gpu = options.target.kind == codegen::TargetSpec::Kind::Cuda;
  options.fuse = {.fuse = flags.optimize != "none",
                  .channelsLast =
                      flags.layout == "nhwc" || (flags.layout == "auto" && gpu),
                  .splitReductions = gpu};
  if (!flags.compileTo.empty()) {
    request.compileTo = passes::parsePhase(flags.compileTo);
    if (!request.compileTo)
      return refuse(fmt::format("--compile-to {}: expected one of {}",
                                flags.compileTo, passes::phaseNames()));
  } else if (flags.out.empty()) {
    return refuse("-o OUT.plan is missing");
  }
  request.recipeJson = recipe(flags, request);
  return request;
}

} // namespace halftone::tools
