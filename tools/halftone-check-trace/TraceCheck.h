// SPDX-License-Identifier: Apache-2.0
// Pairs the steps of a plan's buffer IR (compile --compile-to memory) with what
// a device read and wrote in them, and compares each with the host reference.
#pragma once
#include "compiler/reference/StepCheck.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/Status.h"
#include "runtime/data/HostArray.h"
#include <filesystem>

namespace halftone::tools {

/// The steps of the exec program of this name ("train" or "eval") in running
/// order, which is the order of the plan's steps; empty where there is none.
std::vector<exec::StepOpInterface> stepsOf(mlir::ModuleOp module,
                                           llvm::StringRef program);

/// reference::checkStep on stored arrays. Fails where the arrays are not of the
/// operands' number, types and sizes, or the step cannot be evaluated.
runtime::Result<std::optional<reference::StepMismatch>>
checkTracedStep(exec::StepOpInterface step,
                llvm::ArrayRef<runtime::HostArray> inputs,
                llvm::ArrayRef<runtime::HostArray> outputs);

/// What became of a trace folder.
struct TraceReport {
  size_t checked = 0;
  /// "step 12 (node): ..." for each step that disagrees.
  std::vector<std::string> mismatches;
};

/// Checks the folder that `halftone-run trace` wrote for `program`. Fails where
/// files are missing, left over, damaged, or belong to another plan.
runtime::Result<TraceReport> checkTrace(mlir::ModuleOp module,
                                        llvm::StringRef program,
                                        const std::filesystem::path &folder);

} // namespace halftone::tools
