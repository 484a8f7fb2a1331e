// SPDX-License-Identifier: Apache-2.0
// halftone-opt: reads textual IR, runs the passes named on the command line in
// their order, prints the result.
#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "runtime/base/StandardStreams.h"
#include "tools/halftone-opt/ProgramPass.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include <cstdlib>

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

/// Whether all of it was written. Says so where not, for LLVM would end the
/// program with a message of its own when the stream is destroyed.
bool isWritten(llvm::raw_fd_ostream &stream, llvm::StringRef name) {
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  if (error)
    llvm::errs() << "error: cannot write to " << name << ": " << error.message()
                 << "\n";
  llvm::errs().clear_error();
  return !error;
}

/// At exit: LLVM ends the program itself where it prints its help.
void checkStandardStreams() {
  if (!isWritten(llvm::outs(), "standard output"))
    std::_Exit(1);
}

LogicalResult run(const std::string &in, const std::string &out,
                  DialectRegistry &registry) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(in, &message);
  std::unique_ptr<llvm::ToolOutputFile> file;
  if (input && out != "-")
    file = openOutputFile(out, &message);
  if (!message.empty()) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  }
  bool done = succeeded(MlirOptMain(file ? file->os() : llvm::outs(),
                                    std::move(input), registry,
                                    MlirOptMainConfig::createFromCLOptions()));
  if (!file)
    return success(done);
  done &= isWritten(file->os(), out);
  if (done)
    file->keep();
  return success(done);
}

} // namespace

int main(int argc, char **argv) {
  halftone::runtime::holdStandardStreams();
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  // Made before, they are destroyed after the check.
  llvm::outs();
  llvm::errs();
  std::atexit(checkStandardStreams);
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
  bool lists = MlirOptMainConfig::createFromCLOptions().shouldShowDialects();
  return asMainReturnCode(lists ? MlirOptMain(argc, argv, in, out, registry)
                                : run(in, out, registry));
}
