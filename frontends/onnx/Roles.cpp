// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Roles.h"
#include "frontends/onnx/InitializerUses.h"
#include "frontends/onnx/LostParameters.h"
#include "frontends/onnx/Masks.h"
#include <cmath>
#include <regex>

namespace halftone::onnx_frontend {

const char kExportAdvice[] =
    "Export with `tools/export_torch.py`, with `torch.onnx.export(..., "
    "dynamo=True, optimize=False)`, or with the "
    "TorchScript exporter in train mode (`dynamo=False, "
    "training=torch.onnx.TrainingMode.PRESERVE, "
    "do_constant_folding=False`)";

namespace {

bool isSplat(llvm::ArrayRef<float> data) {
  return data.empty() ||
         llvm::all_of(data, [&](float x) { return x == data[0]; });
}

/// Names that exporters make up for values that they computed.
bool isExporterName(llvm::StringRef name) {
  static const std::regex made(
      R"(^val_\d+|^onnx::|^_inlfunc|^_to_copy|^\d+$|^/|^constant|^const_|_output_\d+$|^ortshared)",
      std::regex::icase);
  return std::regex_search(name.str(), made);
}

/// One `--freeze` or `--train` option.
struct NamePattern {
  std::string option, text;
  std::regex regex;
  bool matched = false;
};

std::vector<NamePattern> compilePatterns(const std::string &option,
                                         llvm::ArrayRef<std::string> texts,
                                         DiagnosticLog &log) {
  std::vector<NamePattern> patterns;
  for (const std::string &text : texts) {
    try {
      patterns.push_back({option, text, std::regex(text)});
    } catch (const std::regex_error &refusal) {
      log.error(option + " '" + text +
                "' is no regular expression: " + refusal.what());
    }
  }
  return patterns;
}

bool anyMatches(std::vector<NamePattern> &patterns, const std::string &name) {
  bool any = false;
  for (NamePattern &pattern : patterns)
    if (std::regex_search(name, pattern.regex))
      any = pattern.matched = true;
  return any;
}

class RoleDecision {
public:
  RoleDecision(const onnx::ModelProto &light,
               std::vector<Initializer> &initializers,
               const ImportOptions &options, DiagnosticLog &log)
      : light(light), initializers(initializers), log(log),
        uses(collectUses(light.graph())), drawn(options.randomInit),
        hasKinds(
            llvm::any_of(initializers,
                         [](const Initializer &i) { return !i.kind.empty(); })),
        freeze(compilePatterns("--freeze", options.freeze, log)),
        train(compilePatterns("--train", options.train, log)) {}

  Roles run() {
    Roles roles;
    for (Initializer &initializer : initializers) {
      std::optional<WeightRole> role = roleOf(initializer);
      if (!role || tieToEmbedding(initializer, roles))
        continue;
      roles.weights.add(toWeight(initializer, *role));
    }
    for (Initializer &initializer : initializers)
      if (!roles.weights.find(initializer.name))
        tieToParameter(initializer, roles);
    reportPatterns();
    if (!drawn)
      reportNotFinite(roles);
    reportChoice(roles);
    reportLostParameters(light.graph(), uses, roles.weights, constants, log);
    return roles;
  }

private:
  /// nullopt: a constant.
  std::optional<WeightRole> roleOf(const Initializer &initializer) {
    if (!initializer.isFloat())
      return std::nullopt;
    bool frozen = anyMatches(freeze, initializer.name),
         trained = anyMatches(train, initializer.name);
    if (statisticKind(usesOf(initializer)) >= 0) {
      if (trained)
        log.warning(
            "--train: '" + initializer.name +
            "' is a BatchNormalization statistic, which is never trained");
      return WeightRole::Statistic;
    }
    if (trained)
      return WeightRole::Trainable;
    bool isParameter = hasKinds ? initializer.kind == "PARAMETER"
                                : !initializer.content.shape.empty() &&
                                      !isExporterName(initializer.name);
    if (!isParameter)
      constants.push_back(initializer.name);
    else if (!hasKinds && isMask(initializer, uses))
      masks.push_back(initializer.name);
    else
      return frozen ? WeightRole::Frozen : WeightRole::Trainable;
    return std::nullopt;
  }

  Weight toWeight(Initializer &initializer, WeightRole role) const {
    Weight weight;
    weight.name = initializer.name;
    weight.role = role;
    weight.shape = initializer.content.shape;
    weight.data = std::move(initializer.content.floats);
    weight.missing = initializer.content.missing;
    weight.sourceType = typeName(initializer.content.onnxType);
    if (int kind = statisticKind(usesOf(initializer)); kind >= 0)
      weight.init = {kind == 0 ? 0.0 : 1.0, 0};
    else if (weight.shape.size() >= 2)
      weight.init = {0, 0.02};
    else
      weight.init = {isScale(usesOf(initializer)) ? 1.0 : 0.0, 0};
    return weight;
  }

  /// Equal data alone is no tie (deep-copied layers start equal); equal data
  /// that is an embedding's table on one side is.
  bool tieToEmbedding(const Initializer &initializer, Roles &roles) {
    const TensorContent &content = initializer.content;
    if (content.shape.size() != 2 || isSplat(content.floats))
      return false;
    for (Weight &weight : roles.weights.all()) {
      if (weight.shape != content.shape || weight.data != content.floats)
        continue;
      if (!isEmbeddingTable(usesOf(initializer)) &&
          !isEmbeddingTable(uses.lookup(weight.name)))
        continue;
      weight.aliases.push_back(initializer.name);
      roles.ties[initializer.name] = {weight.name, false};
      log.notice("'" + initializer.name + "' holds the same data as '" +
                 weight.name + "': they are trained as one parameter");
      return true;
    }
    return false;
  }

  /// An exporter's (transposed) copy of a parameter that is still there is this
  /// parameter.
  void tieToParameter(const Initializer &initializer, Roles &roles) {
    const TensorContent &content = initializer.content;
    if (!initializer.isFloat() || content.shape.size() != 2 ||
        isSplat(content.floats) || roles.ties.contains(initializer.name))
      return;
    for (Weight &weight : roles.weights.all()) {
      if (weight.role == WeightRole::Statistic ||
          weight.data.size() != content.floats.size())
        continue;
      bool same =
          weight.shape == content.shape && weight.data == content.floats;
      if (!same && !isTranspose(weight, content))
        continue;
      (same ? weight.aliases : weight.transposes).push_back(initializer.name);
      roles.ties[initializer.name] = {weight.name, !same};
      log.notice("'" + initializer.name + "' is " +
                 (same ? "a copy" : "the transpose") + " of '" + weight.name +
                 "': they are trained as one parameter");
      llvm::erase(constants, initializer.name);
      return;
    }
  }

  static bool isTranspose(const Weight &weight, const TensorContent &content) {
    if (weight.shape.size() != 2 || weight.shape[0] != content.shape[1] ||
        weight.shape[1] != content.shape[0])
      return false;
    int64_t rows = weight.shape[0], columns = weight.shape[1];
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        if (weight.data[r * columns + c] != content.floats[c * rows + r])
          return false;
    return true;
  }

  void reportPatterns() {
    for (const auto *patterns : {&freeze, &train})
      for (const NamePattern &pattern : *patterns)
        if (!pattern.matched)
          log.warning(pattern.option + " '" + pattern.text +
                      "' matches no float initializer");
  }

  /// They compile as any others do, and may be replaced when training starts;
  /// with them no loss is finite.
  void reportNotFinite(const Roles &roles) {
    std::vector<std::string> names;
    for (const Weight &weight : roles.weights.all())
      if (llvm::any_of(weight.data, [](float x) { return !std::isfinite(x); }))
        names.push_back(weight.name);
    if (!names.empty())
      log.warning(counted(names.size(), "parameter") + " of the file " +
                  (names.size() == 1 ? "holds" : "hold") +
                  " NaN or infinite values: " + joinNames(names, 20) +
                  ". Training from them gives no finite loss: export a model "
                  "that is intact, or draw new values with --init random");
  }

  void reportChoice(const Roles &roles) {
    std::string text =
        counted(roles.weights.count(WeightRole::Trainable), "parameter") +
        " to train";
    if (size_t n = roles.weights.count(WeightRole::Frozen))
      text += ", " + std::to_string(n) + " frozen";
    if (size_t n = roles.weights.count(WeightRole::Statistic))
      text += ", " + counted(n, "BatchNormalization statistic");
    if (!masks.empty())
      text += ", " + counted(masks.size(), "mask") + " (" +
              joinNames(masks, 8) + ")";
    if (!constants.empty())
      text += ", " + counted(constants.size(), "constant float tensor") + " (" +
              joinNames(constants, 8) + ")";
    log.notice(
        text +
        (hasKinds ? ", as the file's metadata say"
                  : ", by the rule for names: --freeze and --train change it"));
  }

  llvm::ArrayRef<InitializerUse> usesOf(const Initializer &initializer) const {
    auto found = uses.find(initializer.name);
    return found == uses.end() ? llvm::ArrayRef<InitializerUse>()
                               : llvm::ArrayRef<InitializerUse>(found->second);
  }

  const onnx::ModelProto &light;
  std::vector<Initializer> &initializers;
  DiagnosticLog &log;
  InitializerUses uses;
  bool drawn, hasKinds;
  std::vector<NamePattern> freeze, train;
  std::vector<std::string> constants, masks;
};

} // namespace

Roles decideRoles(const onnx::ModelProto &light,
                  std::vector<Initializer> &initializers,
                  const ImportOptions &options, DiagnosticLog &log) {
  return RoleDecision(light, initializers, options, log).run();
}

} // namespace halftone::onnx_frontend
