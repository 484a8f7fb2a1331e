// SPDX-License-Identifier: Apache-2.0
// A work item is a block of rows (and of columns, where they are long): it
// looks through all row numbers in order and adds what is its own into a small
// array of doubles, which is stored at the end.
#include "compiler/codegen/LowerToLLVM.h"
#include "compiler/codegen/ScatterPlan.h"
#include "compiler/codegen/Storage.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

/// Doubles that a work item keeps, and columns it has at most.
constexpr int64_t kCells = 8192, kColumns = 1024;

class CpuScatter {
public:
  CpuScatter(KernelFunction &kernel, const ScatterPlan &plan)
      : kernel(kernel), plan(plan), s(kernel.b, kernel.loc),
        pull(kernel.fused, kernel.buffers, kernel.writable, forms),
        columns(std::min(plan.width, kColumns)),
        rows(std::clamp<int64_t>(kCells / columns, 1, plan.rows)),
        columnBlocks(llvm::divideCeil(plan.width, columns)) {}

  LogicalResult emit() {
    kernel.info.schedule = "scatter";
    kernel.info.workItems = llvm::divideCeil(plan.rows, rows) * columnBlocks;
    cells = s.b.create<memref::AllocaOp>(
        MemRefType::get({rows * columns}, s.b.getF64Type()));
    place(enterItemLoop(s, kernel, forms));
    loop(s.constantIndex(rows * columns), true, [&](Value i) {
      put(s.b.create<arith::ConstantOp>(s.b.getF64FloatAttr(0)), i);
    });
    loop(s.constantIndex(plan.count), false,
         [&](Value update) { add(update); });
    loop(ownRows, false, [&](Value row) {
      loop(ownColumns, true, [&](Value column) { store(row, column); });
    });
    return failure(pull.hasFailed());
  }

private:
  void loop(Value extent, bool parallel, function_ref<void(Value)> body) {
    OpBuilder::InsertionGuard guard(s.b);
    auto nest =
        s.b.create<scf::ForOp>(s.constantIndex(0), extent, s.constantIndex(1));
    if (parallel)
      nest->setAttr(kParallelLoop, s.b.getUnitAttr());
    s.b.setInsertionPointToStart(nest.getBody());
    body(nest.getInductionVar());
  }

  /// Sets where the work item begins and how much it has.
  void place(Value item) {
    Value blocks = s.constantIndex(columnBlocks);
    firstRow = s.mul(s.div(item, blocks), s.constantIndex(rows));
    firstColumn = s.mul(s.rem(item, blocks), s.constantIndex(columns));
    ownRows = s.minimum(s.constantIndex(rows),
                        s.sub(s.constantIndex(plan.rows), firstRow));
    ownColumns = s.minimum(s.constantIndex(columns),
                           s.sub(s.constantIndex(plan.width), firstColumn));
  }

  /// Adds update `n` where its row is one of the item's.
  void add(Value n) {
    Value local = s.sub(emitScatterRow(s, pull, plan, n), firstRow);
    // Unsigned: rows before the block are not less.
    auto own = s.b.create<scf::IfOp>(s.compare(Compare::Less, local, ownRows));
    OpBuilder::InsertionGuard guard(s.b);
    s.b.setInsertionPointToStart(own.thenBlock());
    loop(ownColumns, true, [&](Value c) {
      Value update = pull.at(s.b, plan.updates, {n, s.add(firstColumn, c)});
      put(s.add(get(s.b, cell(local, c)), s.convert(update, s.b.getF64Type())),
          cell(local, c));
    });
  }

  /// Stores the outputs at a row and a column of the item.
  void store(Value r, Value c) {
    Value row = s.add(firstRow, r), column = s.add(firstColumn, c);
    pull.setReader([&](OpBuilder &b, Value v, ValueRange index) -> Value {
      bool here = isResultAt(plan, forms, v, index, row, column);
      return here ? ScalarBuilder(b, kernel.loc)
                        .convert(get(b, cell(r, c)), b.getF32Type())
                  : Value();
    });
    pull.storeOutputs(s.b, kernel.allOutputs(), {row, column});
  }

  Value cell(Value row, Value column) {
    return s.add(s.mul(row, s.constantIndex(columns)), column);
  }
  Value get(OpBuilder &b, Value at) {
    return loadElement(b, kernel.loc, cells, at, b.getF64Type(), false);
  }
  void put(Value v, Value at) {
    storeElement(s.b, kernel.loc, v, cells, at, s.b.getF64Type());
  }

  KernelFunction &kernel;
  const ScatterPlan &plan;
  ScalarBuilder s;
  IndexForms forms;
  Pull pull;
  int64_t columns, rows, columnBlocks; ///< Of an item at most; across a row.
  Value cells;                         ///< What the item adds up.
  Value firstRow, firstColumn, ownRows, ownColumns;
};

} // namespace

LogicalResult emitCpuScatter(KernelFunction &kernel) {
  auto plan = planScatter(kernel.fused);
  if (failed(plan) || failed(kernel.noteReuse(nullptr)))
    return failure();
  return CpuScatter(kernel, *plan).emit();
}

} // namespace halftone::codegen
