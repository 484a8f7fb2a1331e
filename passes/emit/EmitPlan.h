// SPDX-License-Identifier: Apache-2.0
// From the exec level to the plan message.
#pragma once
#include "compiler/codegen/Codegen.h"
#include "compiler/exec/ExecOps.h"
#include "passes/memory/PlanMemory.h"
#include "runtime/plan/plan.pb.h"

namespace halftone::passes {

/// What the exec level does not know about a parameter.
struct ParameterInfo {
  std::string name;
  std::vector<std::string> aliases;
  std::optional<proto::Distribution> init;
};

/// Needs: a module with the programs @train and @eval (either may be absent) after planMemory. Adds to `plan`: arenas, buffers, generated
/// code, programs, parameters, states, constants, inputs.
llvm::LogicalResult emitPlan(mlir::ModuleOp module, const ArenaSizes &arenas, const codegen::TargetSpec &target,
                             llvm::ArrayRef<ParameterInfo> parameters, proto::Plan &plan);

} // namespace halftone::passes
