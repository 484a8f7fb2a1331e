// SPDX-License-Identifier: Apache-2.0
// Every thread has a context and a target machine of its own. Floating-point
// arithmetic is as the bitcode's flags say: nothing is relaxed here.
#include "runtime/device/cpu/ObjectCompiler.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

namespace halftone::runtime::cpu {
namespace {

/// Keeps the first error; without a handler LLVM would print and exit.
class ErrorKeeper final : public llvm::DiagnosticHandler {
public:
  explicit ErrorKeeper(std::string &text) : text(text) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error && text.empty()) {
      llvm::raw_string_ostream stream(text);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

private:
  std::string &text;
};

/// A producer's choice of processor must not hold back the host's.
void dropTargetAttributes(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (const char *name : {"target-cpu", "target-features", "tune-cpu"})
      function.removeFnAttr(name);
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  tuning.LoopUnrolling = true;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

Status checkModule(llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::verifyModule(module, &stream))
    return {};
  return failed("the kernels' bitcode is not valid IR: " +
                text.substr(0, text.find('\n')));
}

} // namespace

Result<ObjectCompiler> ObjectCompiler::forHost() {
  if (llvm::InitializeNativeTarget() ||
      llvm::InitializeNativeTargetAsmPrinter())
    return unsupported("LLVM cannot generate code for this processor");
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return failed("LLVM does not know this processor: " +
                  llvm::toString(builder.takeError()));
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  // The bfloat16 conversion instructions flush subnormal numbers.
  if (builder->getTargetTriple().isX86())
    for (const char *feature : {"avx512bf16", "avxneconvert", "amx-bf16"})
      builder->getFeatures().AddFeature(feature, false);
  return ObjectCompiler(std::move(*builder));
}

Result<std::unique_ptr<llvm::MemoryBuffer>>
ObjectCompiler::compile(std::string_view bitcode) const {
  std::string problem;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<ErrorKeeper>(problem));
  auto module = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef({bitcode.data(), bitcode.size()}, "kernels"),
      context);
  if (!module)
    return failed("the kernels' bitcode is damaged: " +
                  llvm::toString(module.takeError()));
  HALFTONE_RETURN_IF_ERROR(checkModule(**module));

  auto machineBuilder = builder;
  auto machine = machineBuilder.createTargetMachine();
  if (!machine)
    return failed("LLVM cannot generate code for this processor: " +
                  llvm::toString(machine.takeError()));
  (*module)->setTargetTriple((*machine)->getTargetTriple().str());
  (*module)->setDataLayout((*machine)->createDataLayout());
  dropTargetAttributes(**module);
  optimize(**module, **machine);
  auto object = llvm::orc::SimpleCompiler(**machine)(**module);
  if (!object)
    return failed("LLVM could not compile the kernels: " +
                  llvm::toString(object.takeError()));
  if (!problem.empty())
    return failed("LLVM could not compile the kernels: " + problem);
  return std::move(*object);
}

} // namespace halftone::runtime::cpu
