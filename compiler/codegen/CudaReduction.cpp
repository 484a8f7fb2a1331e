// SPDX-License-Identifier: Apache-2.0
// Row kernels: a warp or a block a row. A thread's partial results meet in
// shuffles, then in shared memory, in a fixed order.
#include "compiler/codegen/CudaBuilder.h"
#include "compiler/codegen/ReductionEmitter.h"
#include "compiler/codegen/Storage.h"
#include "compiler/codegen/VectorAccess.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

/// Longest chain of additions that stays in f32, and the longest row for one
/// warp.
constexpr int64_t kChain = 64, kWarpRow = 1024, kWarpsOfRows = 4;

class CudaRow : RowEmitter {
public:
  CudaRow(KernelFunction &kernel, const ReductionPlan &plan)
      : RowEmitter(kernel, plan), s(kernel) {}

  LogicalResult emit();

private:
  void choose();
  void emitRow();
  void emitLevel(ArrayRef<Operation *> reductions);
  Value acrossThreads(Accumulator &accumulator, Value partial);
  using Body = function_ref<SmallVector<Value>(
      ArrayRef<SmallVector<Value>> indices, ValueRange carried)>;
  SmallVector<Value> pass(ValueRange start, Body body);

  CudaBuilder s;
  int64_t length = 1;  ///< Elements that a thread takes at once.
  int64_t threads = 0; ///< Of a row.
  Value thread;        ///< Within the row.
};

void CudaRow::choose() {
  int64_t inner = plan.space.kinds.back() ? plan.space.extents.back() : 1;
  length = vectorLength(kernel.fused, inner);
  while (inner % length)
    length /= 2;
  // Lanes multiply the accumulators.
  while (length > 4 && plan.levels.size() && plan.count / length < 4 * kWarp)
    length /= 2;
  int64_t units = plan.count / length;
  if (plan.count <= kWarpRow)
    threads = kWarp;
  else
    threads =
        std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(units, 4)), 128,
                            nest.rows() < 512 ? 1024 : 512);
}

LogicalResult CudaRow::emit() {
  choose();
  kernel.info.schedule = "row";
  int64_t rows = nest.rows();
  if (threads > kWarp) {
    s.launch(rows, threads);
    nest.setRow(s, s.block(forms));
    thread = s.thread(forms);
    emitRow();
  } else {
    s.launch(llvm::divideCeil(rows, kWarpsOfRows), kWarpsOfRows * kWarp);
    Value id = s.thread(forms);
    thread = s.rem(id, s.constantIndex(kWarp));
    Value row = s.add(s.mul(s.block(forms), s.constantIndex(kWarpsOfRows)),
                      s.div(id, s.constantIndex(kWarp)));
    forms.setRange(row, 0, rows - 1);
    s.when(s.compare(Compare::Less, row, s.constantIndex(rows)), [&] {
      nest.setRow(s, row);
      emitRow();
    });
  }
  mergeAccesses(kernel.function, forms);
  return failure(pull.hasFailed());
}

void CudaRow::emitRow() {
  for (size_t level = 0; level < plan.levels.size(); ++level) {
    pullRowValues(s, level);
    emitLevel(plan.levels[level]);
  }
  pullRowValues(s, plan.levels.size());
  if (!plan.fullOutputs.empty())
    pass({}, [&](ArrayRef<SmallVector<Value>> indices, ValueRange) {
      SmallVector<SmallVector<Value>> scalars;
      for (const auto &index : indices)
        scalars.push_back(pull.outputsAt(s.b, plan.fullOutputs, index));
      for (auto [index, values] : llvm::zip_equal(indices, scalars))
        pull.store(s.b, plan.fullOutputs, index, values);
      return SmallVector<Value>();
    });
  if (plan.rowOutputs.empty())
    return;
  SmallVector<Value> row = nest.rowIndex(s),
                     scalars = pull.outputsAt(s.b, plan.rowOutputs, row);
  // An output may lie where an input of the row was: everyone must have read
  // it.
  if (llvm::is_contained(kernel.writable, true))
    threads > kWarp ? s.barrier() : s.syncWarp();
  s.when(s.compare(Compare::Equal, thread, s.constantIndex(0)),
         [&] { pull.store(s.b, plan.rowOutputs, row, scalars); });
}

/// One pass over the thread's share of the row, `length` elements at a time.
SmallVector<Value> CudaRow::pass(ValueRange start, Body body) {
  SmallVector<int64_t> extents = nest.reducedExtents();
  OpBuilder::InsertionGuard guard(s.b);
  auto loop =
      s.b.create<scf::ForOp>(thread, s.constantIndex(plan.count / length),
                             s.constantIndex(threads), start);
  s.b.setInsertionPointToStart(loop.getBody());
  forms.setRange(loop.getInductionVar(), 0, plan.count / length - 1);
  Value first = s.mul(loop.getInductionVar(), s.constantIndex(length));
  SmallVector<SmallVector<Value>> indices;
  for (int64_t lane = 0; lane < length; ++lane) {
    Value element = lane ? s.add(first, s.constantIndex(lane)) : first;
    indices.push_back(nest.fullIndex(s, s.delinearize(element, extents)));
  }
  SmallVector<Value> next = body(indices, loop.getRegionIterArgs());
  if (!start.empty())
    s.b.create<scf::YieldOp>(next);
  return SmallVector<Value>(loop.getResults());
}

void CudaRow::emitLevel(ArrayRef<Operation *> reductions) {
  bool isLong = llvm::divideCeil(plan.count, threads * length) > kChain;
  SmallVector<Accumulator> accumulators;
  SmallVector<Value> start;
  for (Operation *op : reductions) {
    accumulators.emplace_back(op, isLong);
    for (int64_t lane = 0; lane < length; ++lane)
      start.push_back(accumulators.back().init(s.b));
  }
  SmallVector<Value> partial = pass(
      start, [&](ArrayRef<SmallVector<Value>> indices, ValueRange carried) {
        SmallVector<Value> next;
        for (auto [r, accumulator] : llvm::enumerate(accumulators))
          for (int64_t lane = 0; lane < length; ++lane) {
            Value data = accumulator.op->getOperand(0);
            Value element =
                pull.at(s.b, data,
                        s.broadcastIndex(indices[lane], graph::shapeOf(data)));
            next.push_back(accumulator.combineElement(
                s.b, carried[r * length + lane], element));
          }
        return next;
      });
  for (auto [r, op] : llvm::enumerate(reductions)) {
    Accumulator accumulator(op, /*mayWiden=*/true);
    Value sum;
    for (int64_t lane = 0; lane < length; ++lane) {
      Value v = s.convert(partial[r * length + lane], accumulator.type());
      sum = sum ? accumulator.combine(s.b, sum, v) : v;
    }
    finished[op] =
        accumulator.finish(s.b, acrossThreads(accumulator, sum), plan.count);
  }
}

Value CudaRow::acrossThreads(Accumulator &accumulator, Value partial) {
  Value v = s.reduceLanes(accumulator, partial, kWarp);
  if (threads == kWarp)
    return v;
  int64_t warps = threads / kWarp;
  Value array = s.sharedArray(warps, accumulator.type());
  Value lane = s.rem(thread, s.constantIndex(kWarp)),
        warp = s.div(thread, s.constantIndex(kWarp));
  s.when(s.compare(Compare::Equal, lane, s.constantIndex(0)), [&] {
    storeElement(s.b, kernel.loc, v, array, warp, accumulator.type());
  });
  s.barrier();
  // Every warp combines the warps' results again, so that all threads have the
  // sum without a second barrier.
  v = loadElement(s.b, kernel.loc, array, s.rem(lane, s.constantIndex(warps)),
                  accumulator.type(), false);
  return s.reduceLanes(accumulator, v, warps);
}

} // namespace

LogicalResult emitCudaReduction(KernelFunction &kernel,
                                const AccessProbe &probe) {
  auto plan = planReductions(kernel.fused, probe);
  if (failed(plan))
    return failure();
  if (plan->isInnermostReduced() || plan->space.size() == plan->count)
    return CudaRow(kernel, *plan).emit();
  return emitCudaColumns(kernel, *plan);
}

} // namespace halftone::codegen
