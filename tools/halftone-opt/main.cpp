// SPDX-License-Identifier: Apache-2.0
// halftone-opt: reads textual IR, runs the passes named on the command line in
// their order, prints the result.
#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/halftone-opt/ProgramPass.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {

/// LLVM's complaint without the program's name, which may be a path.
std::string firstComplaint(llvm::StringRef text) {
  llvm::StringRef line = text.split('\n').first;
  size_t name = line.find(": ");
  return (name == llvm::StringRef::npos ? line : line.substr(name + 2)).str();
}

/// A flag of ours that does not exist. LLVM would take it for -h with more
/// flags behind, and print its help.
std::string unknownPass(llvm::ArrayRef<char *> arguments) {
  for (llvm::StringRef argument : arguments) {
    llvm::StringRef name = argument.ltrim('-').split('=').first;
    if (argument.starts_with("-") && name.starts_with("halftone-") &&
        !cl::getRegisteredOptions().contains(name))
      return argument.str();
  }
  return "";
}

int refuse(const std::string &what) {
  llvm::errs() << "error: " << what << "\n";
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  halftone::tools::insertDialects(registry);
  halftone::tools::registerPasses();

  cl::opt<std::string> in(cl::Positional, cl::desc("<input file>"),
                          cl::init("-"));
  cl::opt<std::string> out("o", cl::desc("Output file"), cl::init("-"),
                           cl::value_desc("filename"));
  MlirOptMainConfig::registerCLOptions(registry);
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (std::string pass = unknownPass({argv + 1, argv + argc}); !pass.empty())
    return refuse("Unknown pass '" + pass + "'.  Try: 'halftone-opt --help'");
  if (!cl::ParseCommandLineOptions(
          argc, argv, "halftone-opt: Halftone's passes, one at a time\n",
          &stream))
    return refuse(firstComplaint(complaint));
  return asMainReturnCode(MlirOptMain(argc, argv, in, out, registry));
}
