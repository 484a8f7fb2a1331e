// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/InitializerUses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

namespace halftone::onnx_frontend {

InitializerUses collectUses(const onnx::GraphProto &graph) {
  InitializerUses uses;
  for (const auto &node : graph.node())
    for (int i = 0; i < node.input_size(); ++i)
      if (!node.input(i).empty())
        uses[node.input(i)].push_back({&node, i});
  return uses;
}

int statisticKind(llvm::ArrayRef<InitializerUse> uses) {
  for (const InitializerUse &use : uses)
    if (use.node->op_type() == "BatchNormalization" && use.input >= 3)
      return use.input - 3;
  return -1;
}

bool isEmbeddingTable(llvm::ArrayRef<InitializerUse> uses) {
  return llvm::any_of(uses, [](const InitializerUse &use) {
    return use.node->op_type() == "Gather" && use.input == 0;
  });
}

bool isMatrix(llvm::ArrayRef<InitializerUse> uses) {
  return llvm::any_of(uses, [](const InitializerUse &use) {
    return use.input == 1 &&
           (use.node->op_type() == "MatMul" || use.node->op_type() == "Gemm" ||
            use.node->op_type() == "Conv");
  });
}

/// Whether input `input` of a node is a factor of what it computes.
static bool isFactor(const InitializerUse &use) {
  unsigned factors = llvm::StringSwitch<unsigned>(use.node->op_type())
                         .Cases("MatMul", "Gemm", 0b11)
                         .Cases("Conv", "ConvTranspose", 0b11)
                         .Cases("RNN", "GRU", "LSTM", 0b110)
                         .Default(0);
  return use.node->op_type() == "Einsum" ||
         (use.input < 32 && (factors >> use.input & 1));
}

/// Whether a node only moves the elements of input `input`.
static bool moves(const InitializerUse &use) {
  return llvm::StringSwitch<bool>(use.node->op_type())
      .Cases("Identity", "Cast", "Transpose", "Reshape", "Flatten",
             use.input == 0)
      .Cases("Squeeze", "Unsqueeze", "Slice", "Split", use.input == 0)
      .Case("Concat", true)
      .Default(false);
}

bool reachesProduct(const InitializerUses &uses, llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef> pending{name};
  llvm::StringSet<> seen;
  while (!pending.empty()) {
    auto found = uses.find(pending.pop_back_val());
    if (found == uses.end() || !seen.insert(found->first()).second)
      continue;
    for (const InitializerUse &use : found->second) {
      if (isFactor(use))
        return true;
      if (moves(use))
        pending.append(use.node->output().begin(), use.node->output().end());
    }
  }
  return false;
}

bool isScale(llvm::ArrayRef<InitializerUse> uses) {
  return llvm::any_of(uses, [](const InitializerUse &use) {
    return use.node->op_type() == "Mul" ||
           (llvm::StringRef(use.node->op_type()).ends_with("Normalization") &&
            use.input == 1);
  });
}

} // namespace halftone::onnx_frontend
