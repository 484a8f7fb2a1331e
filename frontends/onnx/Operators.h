// SPDX-License-Identifier: Apache-2.0
// How ONNX operators are called here, and which of them the importer does
// itself.
#pragma once
#include "mlir/IR/MLIRContext.h"
#include "onnx/onnx_pb.h"
#include <optional>
#include <string>

namespace halftone::onnx_frontend {

/// Whether `domain` is ONNX's own.
bool isOnnxDomain(llvm::StringRef domain);

/// The graph op's mnemonic: the name in snake_case, apart from a few.
std::string operatorName(llvm::StringRef onnxName);

/// What the importer resolves itself: questions about shapes, constants, casts
/// and sequences.
enum class Resolved {
  Constant,
  ConstantOfShape,
  Range,
  Shape,
  Size,
  Identity,
  Cast,
  CastLike,
  MatMul,
  SplitToSequence,
  SequenceConstruct,
  SequenceEmpty,
  SequenceInsert,
  SequenceErase,
  SequenceAt,
  SequenceLength,
  ConcatFromSequence,
};
std::optional<Resolved> resolvedOperator(llvm::StringRef onnxName);

/// Whether a node of this type (ONNX's domain) can be imported.
bool isImportable(mlir::MLIRContext *context, llvm::StringRef onnxName);

/// The version of ONNX's own operators that the model or function imports; 0
/// for none.
template <typename ModelOrFunction>
int64_t opsetVersion(const ModelOrFunction &model) {
  for (const auto &opset : model.opset_import())
    if (isOnnxDomain(opset.domain()))
      return opset.version();
  return 0;
}

} // namespace halftone::onnx_frontend
