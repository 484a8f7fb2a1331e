// SPDX-License-Identifier: Apache-2.0
#include "mlir/Pass/PassRegistry.h"
#include "passes/precision/Precision.h"
#include "tools/halftone-opt/ProgramPass.h"

using namespace mlir;

namespace halftone::tools {
namespace {

constexpr PassEntry kPasses[] = {
    {"halftone-insert-casts",
     "Types results by their colours and inserts casts",
     [](ModuleOp module) {
       return forEachProgram(module, [](graph::ProgramOp program) {
         return passes::insertCasts(program, {});
       });
     }},
    {"halftone-verify-precision",
     "Checks that every op is coloured and typed as its colour says",
     [](ModuleOp module) {
       return forEachProgram(module, passes::verifyPrecision);
     }},
};

struct ListedPass : PassWrapper<ListedPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ListedPass)
  explicit ListedPass(const PassEntry &entry) : entry(entry) {}
  StringRef getArgument() const final { return entry.flag; }
  StringRef getDescription() const final { return entry.summary; }
  void runOnOperation() override {
    if (failed(entry.run(getOperation())))
      signalPassFailure();
  }
  const PassEntry &entry;
};

} // namespace

ArrayRef<PassEntry> passList() { return kPasses; }

void registerPasses() {
  for (const PassEntry &entry : passList())
    registerPass([&entry]() -> std::unique_ptr<Pass> {
      return std::make_unique<ListedPass>(entry);
    });
  registerPrecisionPasses();
}

LogicalResult forEachProgram(ModuleOp module,
                             function_ref<LogicalResult(graph::ProgramOp)> fn) {
  bool done = true;
  for (auto program :
       llvm::make_early_inc_range(module.getOps<graph::ProgramOp>()))
    done &= succeeded(fn(program));
  return success(done);
}

} // namespace halftone::tools
