// SPDX-License-Identifier: Apache-2.0
// ONNX's own shape inference, which our type rules are checked against.
#pragma once
#include "frontends/onnx/BindDims.h"
#include "llvm/ADT/StringMap.h"

namespace halftone::onnx_frontend {

struct InferredType {
  int32_t onnxType = 0;
  /// Only where ONNX knows every dimension, and counts right.
  std::optional<llvm::SmallVector<int64_t>> shape;
};

/// Types of the values of an inlined model whose data inputs have the shapes
/// `inputs`. Shapes that the file states for inner values and outputs are
/// ignored. nullopt and an error in `log` where ONNX refuses the model.
std::optional<llvm::StringMap<InferredType>>
inferTypes(const onnx::ModelProto &light, llvm::ArrayRef<InputShape> inputs,
           DiagnosticLog &log);

} // namespace halftone::onnx_frontend
