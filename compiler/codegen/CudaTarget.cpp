// SPDX-License-Identifier: Apache-2.0
// LLVM's own NVPTX back end; no toolkit and no device library take part.
#include "compiler/codegen/Targets.h"
#include "llvm-c/Target.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

constexpr const char *kTriple = "nvptx64-nvidia-cuda";

/// The newest processor up to `sm` that this LLVM knows: the driver makes its
/// PTX fit newer ones.
std::string processorFor(unsigned sm, const llvm::Target &target) {
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      target.createMCSubtargetInfo(kTriple, "", ""));
  auto name = [](unsigned sm) { return "sm_" + std::to_string(sm); };
  while (sm > 0 && !known->isCPUStringValid(name(sm)))
    --sm;
  return name(sm);
}

std::unique_ptr<llvm::TargetMachine> targetMachine(unsigned sm,
                                                   std::string &problem) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(kTriple, problem);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      kTriple, processorFor(sm, *target), "+ptx80", llvm::TargetOptions(),
      std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

} // namespace

FailureOr<std::string> toPtx(ModuleOp module, unsigned sm) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule = toLLVMModule(module, context);
  if (!llvmModule)
    return failure();
  std::string problem;
  auto machine = targetMachine(sm, problem);
  if (!machine)
    return module.emitError("LLVM generates no PTX here: ") << problem,
           failure();
  llvmModule->setTargetTriple(kTriple);
  llvmModule->setDataLayout(machine->createDataLayout());
  optimize(*llvmModule, *machine);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return module.emitError("LLVM prints no PTX here"), failure();
  passes.run(*llvmModule);
  return text.str().str();
}

} // namespace halftone::codegen
