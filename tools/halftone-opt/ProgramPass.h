// SPDX-License-Identifier: Apache-2.0
// Wraps a phase's function as a pass over a module, so that MlirOptMain can run
// it.
#pragma once
#include "compiler/graph/GraphDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace halftone::tools {

/// The dialects of Halftone's IR, which every phase may read or build.
void insertDialects(mlir::DialectRegistry &registry);

/// A pass over modules; it loads the dialects before it runs, as the IR that it
/// is given need not use all that it builds.
struct ModulePass : mlir::OperationPass<mlir::ModuleOp> {
  using OperationPass::OperationPass;
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    insertDialects(registry);
  }
};

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
