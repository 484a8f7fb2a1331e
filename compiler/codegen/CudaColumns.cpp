// SPDX-License-Identifier: Apache-2.0
// Reductions whose innermost dimension is kept: the lanes of a warp lie along
// the columns, the warps of a block go down the reduced space, and their
// partial results meet in shared memory.
#include "compiler/codegen/CudaBuilder.h"
#include "compiler/codegen/ReductionEmitter.h"
#include "compiler/codegen/Storage.h"
#include "compiler/codegen/VectorAccess.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

/// Longest chain of additions in f32; bytes of shared memory; blocks that fill
/// a large GPU.
constexpr int64_t kChain = 64, kShared = 40 * 1024, kBlocks = 132;

class CudaColumns : ReductionEmitter {
public:
  CudaColumns(KernelFunction &kernel, const ReductionPlan &plan)
      : ReductionEmitter(kernel, plan), s(kernel),
        last(plan.space.extents.size() - 1), columns(plan.space.extents[last]) {
    pull.setReader([this](OpBuilder &, Value v, ValueRange index) -> Value {
      auto known = finished.find(v.getDefiningOp());
      if (known == finished.end())
        return {};
      for (int64_t lane = 0; lane < length; ++lane) {
        nest.setRun(last, position[lane]);
        if (nest.isAtRow(index, graph::shapeOf(v)))
          return known->second[lane];
      }
      return {};
    });
  }

  LogicalResult emit();

private:
  void choose();
  void placeThreads();
  void emitLevel(ArrayRef<Operation *> reductions);
  SmallVector<Value> acrossWarps(Accumulator &accumulator,
                                 ArrayRef<Value> partial);
  using Body =
      function_ref<SmallVector<Value>(ValueRange reduced, ValueRange carried)>;
  SmallVector<Value> pass(ValueRange start, Body body);
  SmallVector<Value> rowIndex(int64_t lane) {
    nest.setRun(last, position[lane]);
    return nest.rowIndex(s);
  }
  SmallVector<Value> fullIndex(int64_t lane, ValueRange reduced) {
    nest.setRun(last, position[lane]);
    return nest.fullIndex(s, reduced);
  }
  void pullRowValues(size_t level) {
    for (Value v : plan.rowValues[level])
      for (int64_t lane = 0; lane < length; ++lane)
        pull.at(s.b, v, s.broadcastIndex(rowIndex(lane), graph::shapeOf(v)));
  }
  void store(ArrayRef<unsigned> outputs, ArrayRef<SmallVector<Value>> indices) {
    SmallVector<SmallVector<Value>> scalars;
    for (const auto &index : indices)
      scalars.push_back(pull.outputsAt(s.b, outputs, index));
    for (auto [index, values] : llvm::zip_equal(indices, scalars))
      pull.store(s.b, outputs, index, values);
  }

  CudaBuilder s;
  unsigned last; ///< The innermost run.
  int64_t columns,
      length = 1,
      warps = 8; ///< Of the run, of a thread; down the reduced space.
  Value lane, warp, isColumn;  ///< isColumn: the thread's columns exist.
  SmallVector<Value> position; ///< Of the thread's columns in the run.
  llvm::DenseMap<Operation *, SmallVector<Value>> finished;
};

void CudaColumns::choose() {
  int64_t others = nest.rows() / columns, reductions = 0;
  for (const auto &level : plan.levels)
    reductions += level.size();
  length = vectorLength(kernel.fused, columns);
  auto blocks = [&] {
    return others * llvm::divideCeil(columns, kWarp * length);
  };
  while (columns % length || (length > 1 && blocks() < kBlocks))
    length /= 2;
  warps =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(plan.count, 16)),
                          4, blocks() < 2 * kBlocks ? 32 : 8);
  auto bytes = [&] { return reductions * warps * kWarp * length * 8; };
  while (length > 1 && bytes() > kShared)
    length /= 2;
  while (warps > 1 && bytes() > kShared)
    warps /= 2;
}

void CudaColumns::placeThreads() {
  kernel.info.schedule = "column";
  int64_t across = llvm::divideCeil(columns, kWarp * length);
  s.launch(nest.rows() / columns * across, warps * kWarp);
  Value id = s.thread(forms), block = s.block(forms);
  lane = s.rem(id, s.constantIndex(kWarp));
  warp = s.div(id, s.constantIndex(kWarp));
  Value part = nest.setOuterRuns(s, block, across);
  // Threads beyond the last column do the last one's work, for the barriers'
  // sake, and store nothing.
  Value unit = s.add(s.mul(part, s.constantIndex(kWarp)), lane),
        units = s.constantIndex(columns / length);
  isColumn = s.compare(Compare::Less, unit, units);
  unit = s.minimum(unit, s.sub(units, s.constantIndex(1)));
  forms.setRange(unit, 0, columns / length - 1);
  Value first = s.mul(unit, s.constantIndex(length));
  for (int64_t l = 0; l < length; ++l)
    position.push_back(l ? s.add(first, s.constantIndex(l)) : first);
}

LogicalResult CudaColumns::emit() {
  choose();
  placeThreads();
  for (size_t level = 0; level < plan.levels.size(); ++level) {
    pullRowValues(level);
    emitLevel(plan.levels[level]);
  }
  pullRowValues(plan.levels.size());
  if (!plan.fullOutputs.empty())
    s.when(isColumn, [&] {
      pass({}, [&](ValueRange reduced, ValueRange) {
        SmallVector<SmallVector<Value>> indices;
        for (int64_t l = 0; l < length; ++l)
          indices.push_back(fullIndex(l, reduced));
        store(plan.fullOutputs, indices);
        return SmallVector<Value>();
      });
    });
  if (!plan.rowOutputs.empty()) {
    // An output may lie where an input of the row was: everyone must have read
    // it.
    if (llvm::is_contained(kernel.writable, true))
      s.barrier();
    Value stores =
        s.andi(isColumn, s.compare(Compare::Equal, warp, s.constantIndex(0)));
    s.when(stores, [&] {
      SmallVector<SmallVector<Value>> indices;
      for (int64_t l = 0; l < length; ++l)
        indices.push_back(rowIndex(l));
      store(plan.rowOutputs, indices);
    });
  }
  mergeAccesses(kernel.function, forms);
  return failure(pull.hasFailed());
}

SmallVector<Value> CudaColumns::pass(ValueRange start, Body body) {
  OpBuilder::InsertionGuard guard(s.b);
  auto loop = s.b.create<scf::ForOp>(warp, s.constantIndex(plan.count),
                                     s.constantIndex(warps), start);
  s.b.setInsertionPointToStart(loop.getBody());
  forms.setRange(loop.getInductionVar(), 0, plan.count - 1);
  SmallVector<Value> next =
      body(s.delinearize(loop.getInductionVar(), nest.reducedExtents()),
           loop.getRegionIterArgs());
  if (!start.empty())
    s.b.create<scf::YieldOp>(next);
  return SmallVector<Value>(loop.getResults());
}

void CudaColumns::emitLevel(ArrayRef<Operation *> reductions) {
  bool isLong = llvm::divideCeil(plan.count, warps) > kChain;
  SmallVector<Accumulator> accumulators;
  SmallVector<Value> start;
  for (Operation *op : reductions) {
    accumulators.emplace_back(op, isLong);
    for (int64_t l = 0; l < length; ++l)
      start.push_back(accumulators.back().init(s.b));
  }
  SmallVector<Value> partial =
      pass(start, [&](ValueRange reduced, ValueRange carried) {
        SmallVector<Value> next;
        for (auto [r, accumulator] : llvm::enumerate(accumulators))
          for (int64_t l = 0; l < length; ++l) {
            Value data = accumulator.op->getOperand(0);
            Value element = pull.at(
                s.b, data,
                s.broadcastIndex(fullIndex(l, reduced), graph::shapeOf(data)));
            next.push_back(accumulator.combineElement(
                s.b, carried[r * length + l], element));
          }
        return next;
      });
  for (auto [r, op] : llvm::enumerate(reductions)) {
    Accumulator accumulator(op, /*mayWiden=*/true);
    SmallVector<Value> own;
    for (int64_t l = 0; l < length; ++l)
      own.push_back(s.convert(partial[r * length + l], accumulator.type()));
    SmallVector<Value> results;
    for (Value sum : acrossWarps(accumulator, own))
      results.push_back(accumulator.finish(s.b, sum, plan.count));
    finished[op] = results;
  }
}

/// Each thread leaves its columns' partial results in shared memory and
/// combines those of all warps, first to last.
SmallVector<Value> CudaColumns::acrossWarps(Accumulator &accumulator,
                                            ArrayRef<Value> partial) {
  Type type = accumulator.type();
  if (warps == 1)
    return SmallVector<Value>(partial);
  Value array = s.sharedArray(warps * kWarp * length, type);
  // Entry (warp, element of the thread, lane): neighbouring lanes in
  // neighbouring banks.
  auto entry = [&](Value w, int64_t l) {
    return s.add(
        s.mul(s.add(s.mul(w, s.constantIndex(length)), s.constantIndex(l)),
              s.constantIndex(kWarp)),
        lane);
  };
  for (int64_t l = 0; l < length; ++l)
    storeElement(s.b, kernel.loc, partial[l], array, entry(warp, l), type);
  s.barrier();
  SmallVector<Value> start;
  for (int64_t l = 0; l < length; ++l)
    start.push_back(accumulator.init(s.b));
  auto loop = s.b.create<scf::ForOp>(s.constantIndex(0), s.constantIndex(warps),
                                     s.constantIndex(1), start);
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next;
  for (int64_t l = 0; l < length; ++l) {
    Value v = loadElement(s.b, kernel.loc, array,
                          entry(loop.getInductionVar(), l), type, false);
    next.push_back(accumulator.combine(s.b, loop.getRegionIterArg(l), v));
  }
  s.b.create<scf::YieldOp>(next);
  return SmallVector<Value>(loop.getResults());
}

} // namespace

LogicalResult emitCudaColumns(KernelFunction &kernel,
                              const ReductionPlan &plan) {
  return CudaColumns(kernel, plan).emit();
}

} // namespace halftone::codegen
