// SPDX-License-Identifier: Apache-2.0
#include "mlir/Pass/PassRegistry.h"
#include "passes/precision/Precision.h"
#include "tools/halftone-opt/ProgramPass.h"

using namespace mlir;

namespace halftone::tools {
namespace {

struct AssignPrecisionPass : PassWrapper<AssignPrecisionPass, ModulePass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AssignPrecisionPass)
  AssignPrecisionPass() = default;
  // Pass options do not copy; the framework copies their values.
  AssignPrecisionPass(const AssignPrecisionPass &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "halftone-assign-precision"; }
  StringRef getDescription() const final {
    return "Colours every op by the lists, and the gradients by theirs";
  }

  void runOnOperation() override {
    passes::PrecisionOptions options;
    if (failed(read(options)) ||
        failed(forEachProgram(getOperation(), [&](graph::ProgramOp program) {
          return passes::assignPrecision(program, options);
        })))
      signalPassFailure();
  }

  LogicalResult read(passes::PrecisionOptions &options) {
    auto color = passes::parseColor(precision);
    if (!color)
      return getOperation().emitError("no precision '") << precision << "'";
    options.precision = *color;
    for (auto [names, list] : {std::pair(&allow, PrecisionClass::Allow),
                               {&infer, PrecisionClass::Infer},
                               {&deny, PrecisionClass::Deny},
                               {&clear, PrecisionClass::Clear}})
      for (const std::string &name : *names)
        options.lists.push_back({name, list});
    for (const std::string &text : colors) {
      auto entry = passes::parseColorEntry(text);
      if (!entry)
        return getOperation().emitError("'")
               << text << "' is not REGEX=fp16|bf16|fp32";
      options.colors.push_back(*entry);
    }
    return success();
  }

  Option<std::string> precision{*this, "precision",
                                llvm::cl::desc("fp32, tf32, fp16 or bf16"),
                                llvm::cl::init("fp32")};
  ListOption<std::string> allow{*this, "allow",
                                llvm::cl::desc("operators to allow")};
  ListOption<std::string> infer{*this, "infer",
                                llvm::cl::desc("operators to infer")};
  ListOption<std::string> deny{*this, "deny",
                               llvm::cl::desc("operators to deny")};
  ListOption<std::string> clear{*this, "clear",
                                llvm::cl::desc("operators to clear")};
  ListOption<std::string> colors{
      *this, "color", llvm::cl::desc("REGEX=COLOUR by node name or namespace")};
};

} // namespace

void registerPrecisionPasses() {
  registerPass([]() -> std::unique_ptr<Pass> {
    return std::make_unique<AssignPrecisionPass>();
  });
}

} // namespace halftone::tools
