// SPDX-License-Identifier: Apache-2.0
// Appends what follows the gradients: unscale, finite check, parameter update,
// loss-scale update. All of it is ordinary elementwise arithmetic over the flat
// gradient and parameter arenas and over scalar states; fusion makes one kernel
// a group of it.
#pragma once
#include "compiler/graph/GraphDialect.h"
#include <string>

namespace halftone::passes {

enum class OptimizerKind { Sgd, Adam, AdamW };

/// PyTorch's semantics (torch.optim.SGD, Adam, AdamW).
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::AdamW;
  double learningRate = 1e-3;
  double momentum = 0, weightDecay = 0;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

enum class LossScaleMode { Off, Static, Dynamic };

/// torch.amp.GradScaler with a floor and a ceiling.
struct LossScaleOptions {
  LossScaleMode mode = LossScaleMode::Off;
  double init = 65536, growth = 2, backoff = 0.5;
  int64_t interval = 2000;
  double minimum = 1, maximum = 16777216;
};

/// The gradient seed: the loss scale state (a scalar), or 1.
mlir::Value buildGradientSeed(graph::ProgramOp program,
                              const LossScaleOptions &options);

/// Needs: the joint forward and backward graph; `parameters` and their
/// gradients (null: zero) in order; `pending`: assignments of other persistent
/// values (running statistics) that the step makes. Leaves: states step,
/// learning_rate, found_inf, grad_norm, moments and loss scale, assigned at the
/// end of the step. If a gradient or the loss is not finite, found_inf is 1 and
/// everything else but the loss scale keeps its old value.
void buildOptimizerStep(
    graph::ProgramOp program, mlir::Value loss,
    llvm::ArrayRef<mlir::Value> parameters,
    llvm::ArrayRef<mlir::Value> gradients,
    llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> pending,
    const OptimizerOptions &optimizer, const LossScaleOptions &lossScale);

} // namespace halftone::passes
