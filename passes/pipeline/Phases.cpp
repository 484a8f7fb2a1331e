// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline/Phases.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace halftone::passes {

static constexpr llvm::StringLiteral kNames[] = {
    "import", "normalize", "autodiff", "precision", "fuse", "memory", "emit"};

StringRef phaseName(Phase phase) { return kNames[static_cast<int>(phase)]; }

std::optional<Phase> parsePhase(StringRef name) {
  for (auto [i, candidate] : llvm::enumerate(kNames))
    if (name == candidate)
      return static_cast<Phase>(i);
  return std::nullopt;
}

std::string phaseNames() {
  return llvm::join(ArrayRef<llvm::StringLiteral>(kNames), ", ");
}

LogicalResult PhaseObserver::reached(Phase phase, ModuleOp module) {
  if (failed(verify(module)))
    return module.emitError("the IR is not valid after the phase '")
           << phaseName(phase) << "'";
  if (directory.empty())
    return success();
  std::string path = llvm::formatv("{0}/0{1}-{2}.mlir", directory,
                                   static_cast<int>(phase), phaseName(phase))
                         .str();
  std::error_code error = llvm::sys::fs::create_directories(directory);
  if (!error) {
    llvm::raw_fd_ostream out(path, error);
    if (!error) {
      OpPrintingFlags flags;
      flags.elideLargeElementsAttrs(64);
      module->print(out, flags.enableDebugInfo(true, /*prettyForm=*/true));
      out.close();
      error = out.error();
      out.clear_error(); // Otherwise the stream's end is the program's.
    }
  }
  if (error) {
    cannotWrite = true;
    return emitError(UnknownLoc::get(module.getContext()), "cannot write ")
           << path << ": " << error.message();
  }
  return success();
}

} // namespace halftone::passes
