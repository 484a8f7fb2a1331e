// SPDX-License-Identifier: Apache-2.0
// Reductions whose innermost dimension is kept: a work item is a block of
// neighbouring columns, so that the innermost loop runs along memory.
// Accumulators, results and values of one element a row lie in small arrays,
// one entry a column.
#include "compiler/codegen/LowerToLLVM.h"
#include "compiler/codegen/ReductionEmitter.h"
#include "compiler/codegen/Storage.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

constexpr int64_t kWidth = 64, kGrain = 16384;

class CpuColumns : ReductionEmitter {
public:
  CpuColumns(KernelFunction &kernel, const ReductionPlan &plan)
      : ReductionEmitter(kernel, plan), s(kernel.b, kernel.loc),
        last(plan.space.extents.size() - 1), columns(plan.space.extents[last]),
        width(std::min(columns, kWidth)) {
    pull.setReader([this](OpBuilder &b, Value v, ValueRange index) -> Value {
      auto known = arrays.find(v);
      if (known == arrays.end() || !nest.isAtRow(index, graph::shapeOf(v)))
        return {};
      return loadElement(b, this->kernel.loc, known->second, column,
                         arrayType(v), /*invariant=*/false);
    });
  }

  LogicalResult emit();

private:
  /// What the arrays hold of a value: floats unrounded.
  Type arrayType(Value v) {
    Type type = graph::elementTypeOf(v);
    return isa<FloatType>(type) ? s.b.getF32Type() : type;
  }
  /// In front of everything, so that it happens once.
  Value allocate(Type type) {
    OpBuilder::InsertionGuard guard(s.b);
    s.b.setInsertionPointToStart(&s.b.getInsertionBlock()
                                      ->getParentOp()
                                      ->getParentOfType<LLVM::LLVMFuncOp>()
                                      .getBody()
                                      .front());
    return s.b.create<memref::AllocaOp>(
        MemRefType::get({width}, storageType(type)));
  }
  void eachColumn(function_ref<void()> body);
  void emitLevel(ArrayRef<Operation *> reductions);
  void keepRowValues(size_t level);
  void keep(Value v, function_ref<Value()> scalar);

  ScalarBuilder s;
  unsigned last;          ///< The innermost run.
  int64_t columns, width; ///< Of the whole run, of a work item.
  Value first, present;   ///< First column of the item, and how many it has.
  Value column;           ///< Within the item.
  llvm::DenseMap<Value, Value> arrays;
};

void CpuColumns::eachColumn(function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(s.b);
  auto loop =
      s.b.create<scf::ForOp>(s.constantIndex(0), present, s.constantIndex(1));
  loop->setAttr(kParallelLoop, s.b.getUnitAttr());
  s.b.setInsertionPointToStart(loop.getBody());
  column = loop.getInductionVar();
  Value position = s.add(first, column);
  forms.setRange(position, 0, columns - 1);
  nest.setRun(last, position);
  body();
}

/// Computes `v` for every column of the item and keeps it in an array from then
/// on.
void CpuColumns::keep(Value v, function_ref<Value()> scalar) {
  Value array = allocate(arrayType(v));
  eachColumn([&] {
    storeElement(s.b, kernel.loc, scalar(), array, column, arrayType(v));
  });
  arrays[v] = array;
}

void CpuColumns::keepRowValues(size_t level) {
  for (Value v : plan.rowValues[level])
    keep(v, [&] {
      return pull.at(s.b, v,
                     s.broadcastIndex(nest.rowIndex(s), graph::shapeOf(v)));
    });
}

void CpuColumns::emitLevel(ArrayRef<Operation *> reductions) {
  SmallVector<std::pair<Accumulator, Value>> sums;
  for (Operation *op : reductions) {
    Accumulator accumulator(op, /*mayWiden=*/true);
    sums.push_back({accumulator, allocate(accumulator.type())});
  }
  auto get = [&](Value array, Type type) {
    return loadElement(s.b, kernel.loc, array, column, type, false);
  };
  auto put = [&](Value array, Type type, Value v) {
    storeElement(s.b, kernel.loc, v, array, column, type);
  };
  eachColumn([&] {
    for (auto &[accumulator, array] : sums)
      put(array, accumulator.type(), accumulator.init(s.b));
  });
  nest.loop(s, {}, /*markParallel=*/false, [&](ValueRange reduced, ValueRange) {
    eachColumn([&] {
      SmallVector<Value> index = nest.fullIndex(s, reduced);
      for (auto &[accumulator, array] : sums) {
        Value data = accumulator.op->getOperand(0);
        Value element =
            pull.at(s.b, data, s.broadcastIndex(index, graph::shapeOf(data)));
        put(array, accumulator.type(),
            accumulator.combineElement(s.b, get(array, accumulator.type()),
                                       element));
      }
    });
    return SmallVector<Value>();
  });
  for (auto &[accumulator, array] : sums)
    keep(accumulator.op->getResult(0),
         [&, &accumulator = accumulator, array = array] {
           return accumulator.finish(s.b, get(array, accumulator.type()),
                                     plan.count);
         });
}

LogicalResult CpuColumns::emit() {
  int64_t blocks = llvm::divideCeil(columns, width);
  KernelInfo &info = kernel.info;
  info.schedule = "column";
  info.workItems = nest.rows() / columns * blocks;
  info.grain =
      std::max<int64_t>(1, kGrain / std::max<int64_t>(1, plan.count * width));
  Value block = nest.setOuterRuns(s, enterItemLoop(s, kernel, forms), blocks);
  first = s.mul(block, s.constantIndex(width));
  present = s.constantIndex(width);
  if (columns % width)
    present = s.minimum(present, s.sub(s.constantIndex(columns), first));

  for (size_t level = 0; level < plan.levels.size(); ++level) {
    keepRowValues(level);
    emitLevel(plan.levels[level]);
  }
  keepRowValues(plan.levels.size());
  if (!plan.fullOutputs.empty())
    nest.loop(s, {}, /*markParallel=*/false,
              [&](ValueRange reduced, ValueRange) {
                eachColumn([&] {
                  pull.storeOutputs(s.b, plan.fullOutputs,
                                    nest.fullIndex(s, reduced));
                });
                return SmallVector<Value>();
              });
  eachColumn(
      [&] { pull.storeOutputs(s.b, plan.rowOutputs, nest.rowIndex(s)); });
  return failure(pull.hasFailed());
}

} // namespace

LogicalResult emitCpuColumns(KernelFunction &kernel,
                             const ReductionPlan &plan) {
  return CpuColumns(kernel, plan).emit();
}

} // namespace halftone::codegen
