// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/Targets.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace halftone::codegen {

std::unique_ptr<llvm::Module> toLLVMModule(ModuleOp module,
                                           llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, "kernels");
  if (!result)
    module.emitError("generated kernels do not translate to LLVM IR");
  return result;
}

FailureOr<std::string> toBitcode(ModuleOp module) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule = toLLVMModule(module, context);
  if (!llvmModule)
    return failure();
  std::string code;
  llvm::raw_string_ostream stream(code);
  llvm::WriteBitcodeToFile(*llvmModule, stream);
  return code;
}

} // namespace halftone::codegen
