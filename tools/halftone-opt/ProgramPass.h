// SPDX-License-Identifier: Apache-2.0
// Wraps a phase's function as a pass over a module, so that MlirOptMain can run
// it.
#pragma once
#include "compiler/graph/GraphDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace halftone::tools {

/// A pass without options.
struct PassEntry {
  llvm::StringLiteral flag, summary;
  llvm::LogicalResult (*run)(mlir::ModuleOp);
};

/// The plain list that `registerPasses` goes through.
llvm::ArrayRef<PassEntry> passList();

/// Registers every pass of halftone-opt: the list, and those with options.
void registerPasses();
/// The ones with options of the precision phase.
void registerPrecisionPasses();

/// Calls `fn` for every program of the module; fails where one fails.
llvm::LogicalResult
forEachProgram(mlir::ModuleOp module,
               llvm::function_ref<llvm::LogicalResult(graph::ProgramOp)> fn);

} // namespace halftone::tools
