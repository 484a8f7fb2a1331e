// SPDX-License-Identifier: Apache-2.0
// Appends the loss to a forward graph.
#pragma once
#include "compiler/graph/GraphDialect.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::passes {

enum class LossKind { CrossEntropy, Mse, L1, BceWithLogits, Output };

struct LossOptions {
  LossKind kind = LossKind::CrossEntropy;
  std::string output; ///< Output: the model's own scalar output
  std::string logits; ///< name of the output the loss reads; empty: the only
                      ///< float output
  std::optional<int64_t>
      classAxis; ///< default: 1 for rank 4 and above, else the last
  int64_t ignoreIndex = -100;
  std::string
      targetFrom; ///< labels are this input, shifted to the left by `shift`
  int64_t shift = 0;
};

/// What was decided, for the plan and the reader.
struct LossResult {
  mlir::Value loss;
  std::string logits;                 ///< empty for Output
  int64_t classAxis = 0, classes = 0; ///< cross entropy
  std::vector<std::string> notices;
};

/// Flag spelling ("cross_entropy") to kind, and back.
std::optional<LossKind> parseLossKind(llvm::StringRef name);
llvm::StringRef lossName(LossKind kind);

/// Needs: an imported program. Leaves: the scalar loss (f32, the mean over
/// valid labels or elements), a `target` input where one is read, origin =
/// loss. `masked`: adds the input `row_weight` [batch] to losses that have no
/// label to ignore, so that padding rows do not count. Refuses, with names and
/// shapes, a model whose logits are not clear.
llvm::FailureOr<LossResult> buildLoss(graph::ProgramOp program,
                                      const LossOptions &options, bool masked);

} // namespace halftone::passes
