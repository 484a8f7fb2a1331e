// SPDX-License-Identifier: Apache-2.0
// The options of `halftone compile` as the command line spells them.
#pragma once
#include "frontends/onnx/Import.h"
#include "passes/pipeline/Pipeline.h"
#include "llvm/Support/Error.h"
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace halftone::tools {

/// As parsed; strings are interpreted by `resolve`.
struct CompileFlags {
  std::string model, out, target, loss = "cross_entropy", logits, targetFrom,
                                  optimizer = "adamw", betas,
                                  precision = "auto";
  std::string init = "weights", batchNorm = "train", dropout = "on",
              lossScale = "auto", optimize = "full", layout = "auto", compileTo,
              dumpPhases;
  std::optional<int64_t> classAxis, batch, ignoreIndex, shift, scaleInterval;
  std::optional<double> lr, momentum, weightDecay, eps, scaleInit, scaleGrowth,
      scaleBackoff, scaleMin, scaleMax;
  bool nesterov = false, keepCasts = false;
  std::vector<std::string> dims, freeze, train, allow, infer, deny, clear,
      colors;
};

/// Declares the options of the contract; those of later issues answer that they
/// are not available yet (exit code 2).
void declareCompileFlags(CLI::App &command, CompileFlags &flags);

/// What the flags mean.
struct CompileRequest {
  onnx_frontend::ImportOptions import;
  passes::CompileOptions compile;
  std::optional<passes::Phase> compileTo;
  bool randomInit = false;
  uint64_t seed = 0;
  std::string targetName, architecture, precisionName, recipeJson;
};

/// Fails with one sentence that names the option, its value and what is
/// allowed.
llvm::Expected<CompileRequest> resolve(const CompileFlags &flags);

} // namespace halftone::tools
