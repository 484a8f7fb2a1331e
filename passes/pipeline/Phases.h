// SPDX-License-Identifier: Apache-2.0
// The phases in order; --compile-to stops after one, --dump-phases writes the
// IR after each.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace halftone::passes {

enum class Phase {
  Import,    ///< one graph.program per use, ops as ONNX names them
  Normalize, ///< idioms rewritten, training or evaluation forms
  Autodiff,  ///< loss, gradients and optimizer step, all f32
  Precision, ///< every op coloured, casts inserted
  Fuse,      ///< kernels-to-be, library calls and views in final order
  Memory,    ///< buffers with offsets, steps
  Emit       ///< code and the plan
};

llvm::StringRef phaseName(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);
/// "import, normalize, ...".
std::string phaseNames();

/// Where a pipeline stops and what it writes on the way.
class PhaseObserver {
public:
  PhaseObserver(std::optional<Phase> last, std::string directory)
      : last(last), directory(std::move(directory)) {}
  /// Called after a phase; writes DIR/NN-NAME.mlir if asked. Fails if the file
  /// cannot be written.
  llvm::LogicalResult reached(Phase phase, mlir::ModuleOp module);
  /// Whether a file could not be written; then nothing is wrong with the model.
  bool writeFailed() const { return cannotWrite; }
  /// Whether the pipeline ends after `phase`.
  bool stopsAt(Phase phase) const { return last && *last == phase; }

private:
  std::optional<Phase> last;
  std::string directory;
  bool cannotWrite = false;
};

} // namespace halftone::passes
