// SPDX-License-Identifier: Apache-2.0
// One pass over a prepared graph with given input shapes; run twice where a
// static batch is to change.
#pragma once
#include "frontends/onnx/BindDims.h"
#include "frontends/onnx/Roles.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace halftone::onnx_frontend {

/// What all passes share: the light, inlined model; initializers that are
/// constants, as host data; weights and ties.
struct PreparedModel {
  onnx::ModelProto light;
  std::vector<Initializer> initializers;
  Roles roles;
  std::string folder;
};

struct ImportedGraph {
  /// Null where there are errors.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Folded float constants that are too large for the IR.
  WeightStore constants;
  DiagnosticLog log;
  /// Nodes that could not be imported.
  std::vector<std::string> failedNodes;
};

ImportedGraph importGraph(mlir::MLIRContext *context,
                          const PreparedModel &model,
                          llvm::ArrayRef<InputShape> inputs,
                          const ImportOptions &options);

} // namespace halftone::onnx_frontend
