// SPDX-License-Identifier: Apache-2.0
#include "compiler/exec/ExecOps.h"
#include "compiler/graph/Cleanup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/autodiff/BuildBackward.h"
#include "passes/autodiff/BuildOptimizerStep.h"
#include "passes/fuse/FuseEpilogues.h"
#include "passes/fuse/FuseGroups.h"
#include "passes/fuse/LowerComposites.h"
#include "passes/fuse/PutChannelsLast.h"
#include "passes/fuse/SplitReductions.h"
#include "passes/memory/LowerToExec.h"
#include "passes/memory/PlanMemory.h"
#include "passes/normalize/Normalize.h"
#include "passes/precision/Precision.h"
#include "tools/halftone-opt/ProgramPass.h"

using namespace mlir;

namespace halftone::tools {
namespace {

/// Appends the gradient of output "loss" with respect to every trainable
/// parameter, as outputs "grad.NAME".
LogicalResult buildGradients(graph::ProgramOp program) {
  Value loss;
  for (auto output : program.getBody().getOps<graph::OutputOp>())
    if (output.getName() == "loss")
      loss = output.getValue();
  if (!loss)
    return program.emitError("has no output 'loss'");
  SmallVector<Value> parameters;
  SmallVector<std::string> names;
  for (auto parameter : program.getBody().getOps<graph::ParameterOp>())
    if (parameter.getRole() == "trainable") {
      parameters.push_back(parameter.getValue());
      names.push_back("grad." + parameter.getName().str());
    }
  Value seed = passes::buildGradientSeed(program, {});
  auto gradients = passes::buildBackward(program, loss, seed, parameters);
  if (failed(gradients))
    return failure();
  OpBuilder b = OpBuilder::atBlockEnd(&program.getBody().front());
  for (auto [name, gradient] : llvm::zip_equal(names, *gradients))
    if (gradient)
      b.create<graph::OutputOp>(gradient.getLoc(), name, gradient);
  return success();
}

/// A pass that cannot fail, over every program.
template <void (*change)(graph::ProgramOp)>
LogicalResult changePrograms(ModuleOp module) {
  return forEachProgram(module, [](graph::ProgramOp program) {
    change(program);
    return success();
  });
}

LogicalResult lowerPrograms(ModuleOp module) {
  passes::KernelTable kernels(module);
  return forEachProgram(module, [&](graph::ProgramOp program) -> LogicalResult {
    if (failed(passes::lowerToExec(program, kernels)))
      return failure();
    program.erase();
    return success();
  });
}

constexpr PassEntry kPasses[] = {
    {"halftone-normalize",
     "Rewrites exporter idioms; training forms, statistics not updated",
     [](ModuleOp module) {
       return forEachProgram(module, [](graph::ProgramOp program) {
         return LogicalResult(passes::normalize(program, {}));
       });
     }},
    {"halftone-build-backward",
     "Appends the gradients of output 'loss' as outputs grad.NAME",
     [](ModuleOp module) { return forEachProgram(module, buildGradients); }},
    {"halftone-clean-up", "Canonicalizes, merges equal ops, erases dead ones",
     [](ModuleOp module) {
       return forEachProgram(module, [](graph::ProgramOp program) {
         return graph::cleanUp(program);
       });
     }},
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
    {"halftone-lower-composites", "Composites become primitives",
     [](ModuleOp module) {
       return forEachProgram(module, passes::lowerComposites);
     }},
    {"halftone-fuse-epilogues", "Products take the addition of a bias in",
     changePrograms<passes::fuseEpilogues>},
    {"halftone-put-channels-last",
     "Convolutions, and what lies between them, with channels as last axis",
     [](ModuleOp module) {
       return forEachProgram(module, passes::putChannelsLast);
     }},
    {"halftone-split-reductions", "Long column reductions in two stages",
     changePrograms<passes::splitReductions>},
    {"halftone-fuse", "Groups primitives into kernels",
     [](ModuleOp module) {
       return forEachProgram(module, [](graph::ProgramOp program) {
         return passes::fuseGroups(program, {});
       });
     }},
    {"halftone-lower-to-exec", "Programs become buffers and steps",
     lowerPrograms},
    {"halftone-plan-memory", "Gives every buffer its offset",
     [](ModuleOp module) {
       passes::planMemory(module);
       return success();
     }},
};

struct ListedPass : PassWrapper<ListedPass, ModulePass> {
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

void insertDialects(DialectRegistry &registry) {
  registry.insert<graph::GraphDialect, exec::ExecDialect, memref::MemRefDialect,
                  arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
}

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
