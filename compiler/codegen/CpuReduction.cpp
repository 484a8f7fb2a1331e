// SPDX-License-Identifier: Apache-2.0
// Row kernels: a work item is one kept index, whose reduced elements are passed
// over once a level and once for the outputs.
#include "compiler/codegen/LowerToLLVM.h"
#include "compiler/codegen/ReductionPlan.h"
#include "compiler/codegen/RunNest.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

constexpr int64_t kGrain = 16384;

class CpuRow {
public:
  CpuRow(KernelFunction &kernel, const ReductionPlan &plan)
      : kernel(kernel), plan(plan), s(kernel.b, kernel.loc),
        pull(kernel.fused, kernel.buffers, kernel.writable, forms),
        nest(plan, forms) {
    pull.setReader([this](OpBuilder &, Value v, ValueRange index) -> Value {
      auto known = finished.find(v.getDefiningOp());
      return known != finished.end() && nest.isAtRow(index, graph::shapeOf(v))
                 ? known->second
                 : Value();
    });
  }

  LogicalResult emit() {
    KernelInfo &info = kernel.info;
    info.schedule = "row";
    info.workItems = nest.rows();
    info.grain =
        std::max<int64_t>(1, kGrain / std::max<int64_t>(1, plan.count));
    auto items =
        s.b.create<scf::ForOp>(kernel.begin, kernel.end, s.constantIndex(1));
    s.b.setInsertionPointToStart(items.getBody());
    forms.setRange(items.getInductionVar(), 0, info.workItems - 1);
    nest.setRow(s, items.getInductionVar());
    for (size_t level = 0; level < plan.levels.size(); ++level) {
      pullRowValues(level);
      emitLevel(plan.levels[level]);
    }
    pullRowValues(plan.levels.size());
    if (!plan.fullOutputs.empty())
      nest.loop(s, {}, /*markParallel=*/true,
                [&](ValueRange reduced, ValueRange) {
                  pull.storeOutputs(s.b, plan.fullOutputs,
                                    nest.fullIndex(s, reduced));
                  return SmallVector<Value>();
                });
    pull.storeOutputs(s.b, plan.rowOutputs, nest.rowIndex(s));
    return failure(pull.hasFailed());
  }

private:
  /// Emitted before the loops that read them, they are found there again.
  void pullRowValues(size_t level) {
    for (Value v : plan.rowValues[level])
      pull.at(s.b, v, s.broadcastIndex(nest.rowIndex(s), graph::shapeOf(v)));
  }

  void emitLevel(ArrayRef<Operation *> reductions) {
    SmallVector<Accumulator> accumulators;
    SmallVector<Value> start;
    for (Operation *op : reductions) {
      accumulators.emplace_back(op, /*mayWiden=*/true);
      start.push_back(accumulators.back().init(s.b));
    }
    SmallVector<Value> sums = nest.loop(
        s, start, /*markParallel=*/true,
        [&](ValueRange reduced, ValueRange carried) {
          SmallVector<Value> next, index = nest.fullIndex(s, reduced);
          for (auto [accumulator, value] :
               llvm::zip_equal(accumulators, carried)) {
            Value data = accumulator.op->getOperand(0);
            Value element = pull.at(
                s.b, data, s.broadcastIndex(index, graph::shapeOf(data)));
            next.push_back(accumulator.combineElement(s.b, value, element));
          }
          return next;
        });
    for (auto [accumulator, sum] : llvm::zip_equal(accumulators, sums))
      finished[accumulator.op] = accumulator.finish(s.b, sum, plan.count);
  }

  KernelFunction &kernel;
  const ReductionPlan &plan;
  ScalarBuilder s;
  IndexForms forms;
  Pull pull;
  RunNest nest;
  llvm::DenseMap<Operation *, Value> finished;
};

} // namespace

LogicalResult emitCpuReduction(KernelFunction &kernel,
                               const AccessProbe &probe) {
  auto plan = planReductions(kernel.fused, probe);
  if (failed(plan))
    return failure();
  if (plan->isInnermostReduced() || plan->space.size() == plan->count)
    return CpuRow(kernel, *plan).emit();
  return emitCpuColumns(kernel, *plan);
}

} // namespace halftone::codegen
