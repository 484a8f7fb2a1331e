// SPDX-License-Identifier: Apache-2.0
// What a target does with the LLVM dialect module of its kernels.
#pragma once
#include "compiler/codegen/Codegen.h"
#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace halftone::codegen {

/// The module as LLVM's own IR; null, with a diagnostic, where that fails.
std::unique_ptr<llvm::Module> toLLVMModule(mlir::ModuleOp module,
                                           llvm::LLVMContext &context);

/// LLVM bitcode that names no processor.
mlir::FailureOr<std::string> toBitcode(mlir::ModuleOp module);

/// PTX text for compute capability `sm`.
mlir::FailureOr<std::string> toPtx(mlir::ModuleOp module, unsigned sm);

} // namespace halftone::codegen
