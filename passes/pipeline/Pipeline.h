// SPDX-License-Identifier: Apache-2.0
// The one function that the outside calls: from an imported model to a plan.
#pragma once
#include "compiler/codegen/Codegen.h"
#include "passes/autodiff/BuildLoss.h"
#include "passes/autodiff/BuildOptimizerStep.h"
#include "passes/emit/EmitPlan.h"
#include "passes/fuse/FuseGroups.h"
#include "passes/normalize/Normalize.h"
#include "passes/pipeline/Phases.h"
#include "passes/precision/Precision.h"

namespace halftone::passes {

/// Each phase's options, by value.
struct CompileOptions {
  NormalizeOptions normalize;
  LossOptions loss;
  OptimizerOptions optimizer;
  LossScaleOptions lossScale;
  PrecisionOptions precision;
  FuseOptions fuse;
  codegen::TargetSpec target;
};

struct CompileResult {
  proto::Plan plan; ///< without what only the caller knows: names, weights
                    ///< file, recipe, original model
  std::vector<std::string> notices;
  PrecisionReport precision;
  bool complete = false; ///< false where --compile-to ended earlier; the module
                         ///< then holds that phase's IR
};

/// Loads every dialect that compilation uses.
void loadDialects(mlir::MLIRContext &context);

/// Needs: a module with one imported graph.program. Leaves: the module at the
/// last phase reached. Errors are diagnostics.
llvm::FailureOr<CompileResult> compile(mlir::ModuleOp module,
                                       const CompileOptions &options,
                                       llvm::ArrayRef<ParameterInfo> parameters,
                                       PhaseObserver &observer);

} // namespace halftone::passes
