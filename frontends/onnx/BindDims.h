// SPDX-License-Identifier: Apache-2.0
// Gives the graph's inputs static shapes.
#pragma once
#include "frontends/onnx/Import.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_frontend {

struct InputShape {
  std::string name;
  int32_t onnxType = 0;
  llvm::SmallVector<int64_t> shape;
};

struct BoundInputs {
  /// One a data input, in the graph's order.
  std::vector<InputShape> inputs;
  std::vector<std::pair<std::string, int64_t>> dims;
  /// The inputs' static leading dimension where --batch asks for another; which
  /// inputs have it.
  std::optional<int64_t> oldBatch;
  std::vector<bool> batched;
};

/// Binds symbolic dimensions by `options`; `isWeight` says which graph inputs
/// are initializers. Static leading dimensions stay as they are, with
/// `oldBatch` set. nullopt and errors in `log` for dimensions that stay
/// unbound, unknown names, bad numbers.
std::optional<BoundInputs>
bindInputs(const onnx::GraphProto &graph, const ImportOptions &options,
           llvm::function_ref<bool(llvm::StringRef)> isWeight,
           DiagnosticLog &log);

} // namespace halftone::onnx_frontend
