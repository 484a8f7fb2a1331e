// SPDX-License-Identifier: Apache-2.0
// Row kernels: a work item is one kept index, whose reduced elements are passed
// over once a level and once for the outputs.
#include "compiler/codegen/LowerToLLVM.h"
#include "compiler/codegen/ReductionEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

constexpr int64_t kGrain = 16384;

class CpuRow : RowEmitter {
public:
  CpuRow(KernelFunction &kernel, const ReductionPlan &plan)
      : RowEmitter(kernel, plan), s(kernel.b, kernel.loc) {}

  LogicalResult emit() {
    KernelInfo &info = kernel.info;
    info.schedule = "row";
    info.workItems = nest.rows();
    info.grain =
        std::max<int64_t>(1, kGrain / std::max<int64_t>(1, plan.count));
    nest.setRow(s, enterItemLoop(s, kernel, forms));
    for (size_t level = 0; level < plan.levels.size(); ++level) {
      pullRowValues(s, level);
      emitLevel(plan.levels[level]);
    }
    pullRowValues(s, plan.levels.size());
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

  ScalarBuilder s;
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
