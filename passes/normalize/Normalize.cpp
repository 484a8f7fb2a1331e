// SPDX-License-Identifier: Apache-2.0
#include "passes/normalize/Normalize.h"
#include "compiler/graph/Cleanup.h"
#include "compiler/graph/Decompose.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"
#include "compiler/graph/State.h"
#include "passes/normalize/RecognizeGelu.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

/// Dropout becomes a mask drawn from (seed, step, node), so that backward and
/// forward see the same one.
void buildStochastic(ProgramOp program) {
  int64_t node = 0;
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
    auto stochastic = dyn_cast<StochasticOpInterface>(op);
    if (!stochastic)
      continue;
    auto counter =
        RankedTensorType::get({}, IntegerType::get(op.getContext(), 64));
    Value seed = getOrCreateState(program, "seed", counter, 0),
          step = getOrCreateState(program, "step", counter, 0);
    OriginTagger tagger(llvm::to_vector(op.getDiscardableAttrs()));
    OpBuilder builder(&op, &tagger);
    ImplicitLocOpBuilder b(op.getLoc(), builder);
    if (Value replacement = stochastic.buildTraining(b, seed, step, node++))
      op.getResult(0).replaceAllUsesWith(replacement);
  }
}

} // namespace

FailureOr<SmallVector<PendingUpdate>>
normalize(ProgramOp program, const NormalizeOptions &options) {
  auto hasNoRule = [](Operation *op) {
    return !isa<DifferentiableOpInterface>(op) && !op->hasTrait<NoGradient>();
  };
  if (failed(cleanUp(program, populateGeluPatterns)) ||
      failed(decomposeOps(program, hasNoRule)))
    return failure();

  SmallVector<PendingUpdate> updates;
  for (Operation &op : program.getBody().front())
    if (auto training = dyn_cast<TrainingOpInterface>(op)) {
      bool batchStatistics = options.training && options.trainBatchNorm;
      training.setTraining(batchStatistics);
      if (batchStatistics)
        for (auto [operand, result] : training.getStatisticUpdates())
          updates.push_back({op.getOperand(operand), op.getResult(result)});
    }
  if (options.training && options.dropout)
    buildStochastic(program);
  // The updates are no uses yet: keep them over the clean-up.
  OpBuilder b = OpBuilder::atBlockEnd(&program.getBody().front());
  SmallVector<AssignOp> keep;
  for (auto [target, value] : updates)
    keep.push_back(b.create<AssignOp>(value.getLoc(), target, value));
  if (failed(cleanUp(program)) || failed(decomposeOps(program, hasNoRule)) ||
      failed(cleanUp(program)))
    return failure();
  updates.clear();
  for (AssignOp assign : keep) {
    updates.push_back({assign.getTarget(), assign.getValue()});
    assign.erase();
  }
  return updates;
}

} // namespace halftone::passes
