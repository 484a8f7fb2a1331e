// SPDX-License-Identifier: Apache-2.0
// The door of this folder: an ONNX file becomes a `graph.program` and a store
// of weights.
#pragma once
#include "frontends/onnx/Diagnostics.h"
#include "frontends/onnx/Weights.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>

namespace halftone::onnx_frontend {

struct ImportOptions {
  /// Symbolic dimensions by name (--dim); a nameless one is called INPUT.AXIS.
  std::vector<std::pair<std::string, int64_t>> dims;
  /// The leading dimension of the inputs (--batch): binds a symbolic one,
  /// changes a static one where that provably works.
  std::optional<int64_t> batch;
  /// --init random: missing external data of parameters and statistics is no
  /// error.
  bool randomInit = false;
  /// --keep-casts: a Cast to a half type rounds its value; otherwise casts
  /// between float types are dropped.
  bool keepCasts = false;
  /// --dropout on and --batch-norm train: what the training will ask of the
  /// file, so that the import can warn where it has something else.
  bool dropout = true, trainBatchNorm = true;
  /// --freeze and --train: ECMAScript regular expressions, searched in the
  /// initializers' names; `train` decides last.
  std::vector<std::string> freeze, train;
};

struct ImportResult {
  /// A module with one `graph.program @main`, ops in execution order, all types
  /// static; null where there are errors. Each op's location is its ONNX node's
  /// name; ops have the attributes `origin` ("forward") and `namespace` (the
  /// path of the PyTorch module, where the file tells it).
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// One entry for each `graph.parameter`, also for parameters that nothing
  /// reads.
  WeightStore weights;
  /// The model as it was read, serialized, without the data of the initializers
  /// that are in `weights`.
  std::string strippedModel;
  /// What symbolic and rebound dimensions became.
  std::vector<std::pair<std::string, int64_t>> boundDims;
  std::vector<Diagnostic> diagnostics;

  explicit operator bool() const { return static_cast<bool>(module); }
};

/// Imports `path`. Never throws; whatever is wrong is in `diagnostics`. Needs
/// the graph dialect loaded in `context`.
ImportResult importModel(mlir::MLIRContext &context, const std::string &path,
                         const ImportOptions &options);

/// The same from bytes; external data is looked for in `folder`.
ImportResult importBytes(mlir::MLIRContext &context, llvm::StringRef bytes,
                         const std::string &folder,
                         const ImportOptions &options);

} // namespace halftone::onnx_frontend
