// SPDX-License-Identifier: Apache-2.0
// The pipeline as a readable list. Train and eval go through the same phases,
// side by side.
#include "passes/pipeline/Pipeline.h"
#include "compiler/graph/Cleanup.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/autodiff/BuildBackward.h"
#include "passes/emit/RecordNodes.h"
#include "passes/fuse/FuseEpilogues.h"
#include "passes/fuse/LowerComposites.h"
#include "passes/fuse/PutChannelsLast.h"
#include "passes/fuse/SplitReductions.h"
#include "passes/memory/LowerToExec.h"
#include "passes/memory/PlanMemory.h"
#include "passes/pipeline/IndexedTables.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options,
              PhaseObserver &observer)
      : module(module), options(options), observer(observer) {}

  LogicalResult run(ArrayRef<ParameterInfo> parameters) {
    // A phase returns success to go on; `stopped` ends the list without an
    // error.
    using Step = LogicalResult (Compilation::*)();
    constexpr std::pair<Phase, Step> kSteps[] = {
        {Phase::Import, &Compilation::split},
        {Phase::Normalize, &Compilation::normalizeBoth},
        {Phase::Autodiff, &Compilation::differentiate},
        {Phase::Precision, &Compilation::color},
        {Phase::Fuse, &Compilation::fuse},
        {Phase::Memory, &Compilation::lower}};
    for (auto [phase, step] : kSteps) {
      if (failed((this->*step)()) || failed(observer.reached(phase, module)))
        return failure();
      if (observer.stopsAt(phase))
        return success();
    }
    if (failed(
            emitPlan(module, arenas, options.target, parameters, result.plan)))
      return failure();
    boundInputs();
    result.complete = true;
    return success();
  }

  CompileResult result;

private:
  /// The imported program twice: to train and to evaluate.
  LogicalResult split() {
    SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
    if (programs.size() != 1)
      return module.emitError("needs one program, has ") << programs.size();
    train = programs.front();
    train.setSymName("train");
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    eval = cast<ProgramOp>(b.clone(*train));
    eval.setSymName("eval");
    return success();
  }

  LogicalResult normalizeBoth() {
    NormalizeOptions evaluation = options.normalize;
    evaluation.training = false;
    auto updates = normalize(train, options.normalize);
    if (failed(updates) || failed(normalize(eval, evaluation)))
      return failure();
    pending = *updates;
    return success();
  }

  LogicalResult differentiate() {
    auto tables = findIndexedTables(train);
    if (failed(tables))
      return failure();
    indexRows = std::move(*tables);
    auto loss = buildLoss(train, options.loss, /*masked=*/false);
    if (failed(loss))
      return failure();
    auto evalLoss = buildLoss(eval, options.loss, /*masked=*/true);
    if (failed(evalLoss))
      return failure();
    result.notices = loss->notices;
    result.plan.set_loss(lossName(options.loss.kind).str());
    result.plan.set_logits(loss->logits);
    result.plan.set_class_axis(loss->classAxis);
    result.plan.set_ignore_index(options.loss.ignoreIndex);
    classes = loss->classes;
    addOutput(eval, evalLoss->loss);

    // Training keeps the loss alone; the model's outputs are the evaluation's.
    for (OutputOp output :
         llvm::make_early_inc_range(train.getBody().getOps<OutputOp>()))
      output.erase();
    SmallVector<Value> parameters;
    for (ParameterOp parameter : train.getBody().getOps<ParameterOp>())
      if (parameter.getRole() == "trainable")
        parameters.push_back(parameter.getValue());
    if (parameters.empty())
      return train.emitError(
          "nothing to train: the model has no trainable parameter");
    Value seed = buildGradientSeed(train, options.lossScale);
    auto gradients = buildBackward(train, loss->loss, seed, parameters);
    if (failed(gradients))
      return failure();
    for (auto [parameter, gradient] : llvm::zip_equal(parameters, *gradients))
      if (!gradient)
        result.notices.push_back(
            "the loss does not depend on parameter " +
            parameter.getDefiningOp<ParameterOp>().getName().str() +
            ": its gradient is zero");
    buildOptimizerStep(train, loss->loss, parameters, *gradients, pending,
                       options.optimizer, options.lossScale);
    addOutput(train, loss->loss);
    return success(succeeded(cleanUp(train)) && succeeded(cleanUp(eval)));
  }

  void addOutput(ProgramOp program, Value loss) {
    OpBuilder b = OpBuilder::atBlockEnd(&program.getBody().front());
    b.create<OutputOp>(loss.getLoc(), "loss", loss);
  }

  LogicalResult color() {
    if (failed(assignPrecision(eval, options.precision)) ||
        failed(insertCasts(eval, options.precision)) ||
        failed(assignPrecision(train, options.precision)) ||
        failed(insertCasts(train, options.precision)))
      return failure();
    if (failed(verifyPrecision(train)) || failed(verifyPrecision(eval)))
      return failure();
    result.precision = reportPrecision(train);
    recordNodes(train, result.plan);
    return success();
  }

  LogicalResult fuse() {
    for (ProgramOp program : {train, eval})
      if (failed(lowerComposites(program)) || failed(arrange(program)) ||
          failed(fuseGroups(program, options.fuse)))
        return failure();
    return success();
  }

  /// What suits the device, before kernels are put together.
  LogicalResult arrange(ProgramOp program) {
    if (options.fuse.fuse)
      fuseEpilogues(program);
    if (options.fuse.channelsLast && failed(putChannelsLast(program)))
      return failure();
    if (options.fuse.splitReductions)
      splitReductions(program);
    return success();
  }

  LogicalResult lower() {
    KernelTable kernels(module);
    for (ProgramOp program : {train, eval}) {
      if (failed(lowerToExec(program, kernels)))
        return failure();
      program.erase();
    }
    arenas = planMemory(module);
    return success();
  }

  /// Labels are checked when data are read, so that a wrong one is named
  /// instead of computed with.
  void boundInputs() {
    for (auto *inputs :
         {result.plan.mutable_inputs(), result.plan.mutable_eval_inputs()})
      for (proto::Input &input : *inputs)
        if (auto it = indexRows.find(input.name());
            it != indexRows.end() && input.kind() == proto::Input::DATA)
          boundIndices(it->second, result.plan.batch(), input);
    if (options.loss.kind != LossKind::CrossEntropy)
      return;
    for (auto *inputs :
         {result.plan.mutable_inputs(), result.plan.mutable_eval_inputs()})
      for (proto::Input &input : *inputs)
        if (input.kind() == proto::Input::TARGET) {
          input.set_minimum(0);
          input.set_maximum(classes - 1);
          input.set_ignored(options.loss.ignoreIndex);
        }
  }

  ModuleOp module;
  const CompileOptions &options;
  PhaseObserver &observer;
  ProgramOp train, eval;
  SmallVector<PendingUpdate> pending;
  int64_t classes = 0;
  llvm::StringMap<IndexedRows> indexRows;
  ArenaSizes arenas;
};

} // namespace

void loadDialects(MLIRContext &context) {
  context
      .loadDialect<GraphDialect, exec::ExecDialect, memref::MemRefDialect,
                   arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
}

FailureOr<CompileResult> compile(ModuleOp module, const CompileOptions &options,
                                 ArrayRef<ParameterInfo> parameters,
                                 PhaseObserver &observer) {
  Compilation compilation(module, options, observer);
  if (failed(compilation.run(parameters)))
    return failure();
  return std::move(compilation.result);
}

} // namespace halftone::passes
