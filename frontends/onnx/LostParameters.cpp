// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/LostParameters.h"
#include "frontends/onnx/Roles.h"
#include "frontends/onnx/Signature.h"
#include "llvm/ADT/StringSet.h"

namespace halftone::onnx_frontend {
namespace {

llvm::StringRef moduleOf(llvm::StringRef parameter) {
  return parameter.rsplit('.').first;
}

/// Whether a weight could be shared by modules: exporters merge equal vectors
/// (all norm scales 1), but not matrices.
bool canBeShared(const Weight &weight) {
  return weight.shape.size() >= 2 &&
         (weight.missing || llvm::any_of(weight.data, [&](float x) {
            return x != weight.data[0];
          }));
}

/// The matrix of another module that module `module` reads itself, or null.
Weight *sharedMatrix(llvm::StringRef module, const InitializerUses &uses,
                     WeightStore &weights) {
  for (Weight &weight : weights.all()) {
    if (moduleOf(weight.name) == module || !canBeShared(weight))
      continue;
    auto found = uses.find(weight.name);
    if (found == uses.end())
      continue;
    for (const InitializerUse &use : found->second) {
      std::vector<std::string> scopes = moduleScopes(*use.node);
      if (!scopes.empty() && scopes.back() == module)
        return &weight;
    }
  }
  return nullptr;
}

/// Files without a signature: large matrices under names that an exporter made
/// up.
void reportFoldedMatrices(const InitializerUses &uses,
                          llvm::ArrayRef<std::string> constants,
                          DiagnosticLog &log) {
  std::vector<std::string> folded;
  for (const std::string &name : constants) {
    auto found = uses.find(name);
    if (found != uses.end() && isMatrix(found->second))
      folded.push_back(name);
  }
  if (!folded.empty())
    log.warning(counted(folded.size(), "weight") +
                " of matrix products or convolutions cannot be trained, "
                "because the exporter folded " +
                "the module's parameters into them: " + joinNames(folded, 20) +
                ". " + kExportAdvice);
}

/// Whether PyTorch's optimizer went over the file; without it every parameter
/// is kept, a tied one under one of its names.
bool wasOptimized(const onnx::GraphProto &graph) {
  auto isTrace = [](const auto &entry) {
    return llvm::StringRef(entry.key()).starts_with("pkg.onnxscript.");
  };
  return llvm::any_of(graph.node(),
                      [&](const auto &node) {
                        return llvm::any_of(node.metadata_props(), isTrace);
                      }) ||
         llvm::any_of(graph.value_info(), [&](const auto &value) {
           return llvm::any_of(value.metadata_props(), isTrace);
         });
}

} // namespace

void reportLostParameters(const onnx::GraphProto &graph,
                          const InitializerUses &uses, WeightStore &weights,
                          llvm::ArrayRef<std::string> constants,
                          DiagnosticLog &log) {
  std::vector<std::string> original = signatureParameters(graph);
  if (original.empty())
    return reportFoldedMatrices(uses, constants, log);
  llvm::StringSet<> present;
  for (const Weight &weight : weights.all()) {
    present.insert(weight.name);
    for (const std::string &alias : weight.aliases)
      present.insert(alias);
  }
  std::vector<std::string> lost;
  size_t tied = 0;
  for (const std::string &name : original) {
    if (present.contains(name))
      continue;
    if (Weight *owner = sharedMatrix(moduleOf(name), uses, weights)) {
      owner->aliases.push_back(name);
      ++tied;
    } else {
      lost.push_back(name);
    }
  }
  // Ties of vectors leave no trace; a few names without one mean these.
  if (!wasOptimized(graph) && lost.size() * 10 <= original.size()) {
    if (!lost.empty())
      log.notice("the file has no tensor for " + joinNames(lost) +
                 ": most likely tied to another parameter");
    return;
  }
  if (!lost.empty())
    log.warning(std::to_string(lost.size()) + " of the module's " +
                counted(original.size() - tied, "parameter") +
                " cannot be trained, because the exporter folded them away: " +
                joinNames(lost) + ". " + kExportAdvice);
}

} // namespace halftone::onnx_frontend
