// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Signature.h"
#include "llvm/ADT/SmallVector.h"

using llvm::StringRef;

namespace halftone::onnx_frontend {

std::vector<std::string> signatureParameters(const onnx::GraphProto &graph) {
  std::vector<std::string> names;
  for (const auto &entry : graph.metadata_props()) {
    if (entry.key() != "pkg.torch.export.ExportedProgram.graph_signature")
      continue;
    // A line each: p_fc_weight: PARAMETER target='fc.weight'
    llvm::SmallVector<StringRef> lines;
    StringRef(entry.value()).split("\n# outputs").first.split(lines, '\n');
    for (StringRef line : lines) {
      auto [head, target] = line.split(": PARAMETER target='");
      if (!target.empty())
        names.push_back(target.split('\'').first.str());
    }
  }
  return names;
}

/// The strings of a Python list's text: ['', 'net', 'net.0', 'linear'].
static std::vector<std::string> quotedStrings(StringRef text) {
  std::vector<std::string> out;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, '\'');
  for (size_t i = 1; i + 1 < parts.size(); i += 2)
    out.push_back(parts[i].str());
  return out;
}

/// "/m/layer1/layer1.0/Conv": each part is a child's name, that of a Sequential
/// repeats its parent's.
static std::vector<std::string> scopesOfName(StringRef name) {
  std::vector<std::string> out;
  llvm::SmallVector<StringRef> parts;
  name.rsplit('/').first.split(parts, '/', -1, /*KeepEmpty=*/false);
  StringRef previous;
  for (StringRef part : parts) {
    std::string child = part.str();
    if (!previous.empty() && part.starts_with((previous + ".").str()))
      child = part.drop_front(previous.size() + 1).str();
    out.push_back(out.empty() ? child : out.back() + "." + child);
    previous = part;
  }
  return out;
}

std::vector<std::string> moduleScopes(const onnx::NodeProto &node) {
  for (const auto &entry : node.metadata_props()) {
    if (entry.key() != "pkg.torch.onnx.name_scopes")
      continue;
    std::vector<std::string> scopes = quotedStrings(entry.value());
    if (!scopes.empty())
      scopes.pop_back(); // The last one is the operation itself.
    llvm::erase_if(scopes, [](const std::string &scope) {
      return scope.empty() || scope.front() == '_';
    });
    return scopes;
  }
  if (StringRef(node.name()).starts_with("/"))
    return scopesOfName(node.name());
  return {};
}

} // namespace halftone::onnx_frontend
