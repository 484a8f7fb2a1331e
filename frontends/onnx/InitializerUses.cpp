// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/InitializerUses.h"
#include "llvm/ADT/STLExtras.h"

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

bool isScale(llvm::ArrayRef<InitializerUse> uses) {
  return llvm::any_of(uses, [](const InitializerUse &use) {
    return use.node->op_type() == "Mul" ||
           (llvm::StringRef(use.node->op_type()).ends_with("Normalization") &&
            use.input == 1);
  });
}

} // namespace halftone::onnx_frontend
