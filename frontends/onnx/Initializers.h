// SPDX-License-Identifier: Apache-2.0
// The tensor data of a model, and the model without it.
#pragma once
#include "frontends/onnx/TensorData.h"

namespace halftone::onnx_frontend {

struct Initializer {
  std::string name;
  TensorContent content;
  /// PyTorch's word for it: PARAMETER, BUFFER, or nothing.
  std::string kind;
  bool isFloat() const { return isFloatType(content.onnxType); }
  /// Float data of over 1 KiB, which ONNX's tools need not see.
  bool isLarge() const;
};

/// Decodes all initializers. Errors go to `log`; data files that are missing
/// are no error here (Initializer::content.missing).
std::vector<Initializer> readInitializers(const onnx::ModelProto &model,
                                          ExternalData &external,
                                          DiagnosticLog &log);

/// A copy of the model in which initializers that are large or have no data are
/// graph inputs, so that it is light and that ONNX's checker and shape
/// inference take it. `model` is as before afterwards.
onnx::ModelProto lightCopy(onnx::ModelProto &model,
                           llvm::ArrayRef<Initializer> initializers);

/// The model, serialized, without the data of the initializers that `drop`
/// names; what others have in files is put into it.
std::string serializeStripped(onnx::ModelProto &model, ExternalData &external,
                              llvm::function_ref<bool(llvm::StringRef)> drop);

} // namespace halftone::onnx_frontend
