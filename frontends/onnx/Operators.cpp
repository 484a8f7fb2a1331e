// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Operators.h"
#include "compiler/graph/BuildByName.h"
#include "llvm/ADT/StringSwitch.h"

namespace halftone::onnx_frontend {

bool isOnnxDomain(llvm::StringRef domain) {
  return domain.empty() || domain == "ai.onnx";
}

std::string operatorName(llvm::StringRef onnxName) {
  return llvm::StringSwitch<std::string>(onnxName)
      .Case("MatMul", "matmul")
      .Case("IsNaN", "is_nan")
      .Case("PRelu", "prelu")
      .Default(graph::snakeCase(onnxName));
}

std::optional<Resolved> resolvedOperator(llvm::StringRef onnxName) {
  return llvm::StringSwitch<std::optional<Resolved>>(onnxName)
      .Case("Constant", Resolved::Constant)
      .Case("ConstantOfShape", Resolved::ConstantOfShape)
      .Case("Range", Resolved::Range)
      .Case("Shape", Resolved::Shape)
      .Case("Size", Resolved::Size)
      .Case("Identity", Resolved::Identity)
      .Case("Cast", Resolved::Cast)
      .Case("CastLike", Resolved::CastLike)
      .Case("MatMul", Resolved::MatMul)
      .Case("SplitToSequence", Resolved::SplitToSequence)
      .Case("SequenceConstruct", Resolved::SequenceConstruct)
      .Case("SequenceEmpty", Resolved::SequenceEmpty)
      .Case("SequenceInsert", Resolved::SequenceInsert)
      .Case("SequenceErase", Resolved::SequenceErase)
      .Case("SequenceAt", Resolved::SequenceAt)
      .Case("SequenceLength", Resolved::SequenceLength)
      .Case("ConcatFromSequence", Resolved::ConcatFromSequence)
      .Default(std::nullopt);
}

bool isImportable(mlir::MLIRContext *context, llvm::StringRef onnxName) {
  return resolvedOperator(onnxName) ||
         graph::isOperator(context, operatorName(onnxName));
}

} // namespace halftone::onnx_frontend
