// SPDX-License-Identifier: Apache-2.0
// From the exec level to the plan message.
#pragma once
#include "compiler/codegen/Codegen.h"
#include "compiler/exec/ExecOps.h"
#include "runtime/plan/plan.pb.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::passes {

/// What the exec level does not know about a parameter.
struct ParameterInfo {
  std::string name;
  std::vector<std::string> aliases;
  std::optional<proto::Distribution> init;
};

/// Needs: a module with the programs @train and @eval (either may be absent)
/// after planMemory, whose result is `arenas` (bytes by name). Adds to `plan`:
/// arenas, buffers, generated code, programs, parameters, states, constants,
/// inputs.
llvm::LogicalResult emitPlan(mlir::ModuleOp module,
                             const std::map<std::string, int64_t> &arenas,
                             const codegen::TargetSpec &target,
                             llvm::ArrayRef<ParameterInfo> parameters,
                             proto::Plan &plan);

} // namespace halftone::passes
