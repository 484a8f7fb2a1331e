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

void loop(ScalarBuilder &s, Value extent, bool parallel,
          function_ref<void(Value)> body) {
  OpBuilder::InsertionGuard guard(s.b);
  auto nest =
      s.b.create<scf::ForOp>(s.constantIndex(0), extent, s.constantIndex(1));
  if (parallel)
    nest->setAttr(kParallelLoop, s.b.getUnitAttr());
  s.b.setInsertionPointToStart(nest.getBody());
  body(nest.getInductionVar());
}

} // namespace

LogicalResult emitCpuScatter(KernelFunction &kernel) {
  auto plan = planScatter(kernel.fused);
  if (failed(plan) || failed(kernel.noteReuse(nullptr)))
    return failure();
  int64_t columns = std::min(plan->width, kColumns),
          rows = std::clamp<int64_t>(kCells / columns, 1, plan->rows);
  int64_t columnBlocks = llvm::divideCeil(plan->width, columns);
  kernel.info.schedule = "scatter";
  kernel.info.workItems = llvm::divideCeil(plan->rows, rows) * columnBlocks;

  ScalarBuilder s(kernel.b, kernel.loc);
  Type f64 = s.b.getF64Type();
  IndexForms forms;
  Pull pull(kernel.fused, kernel.buffers, kernel.writable, forms);
  Value cells =
      s.b.create<memref::AllocaOp>(MemRefType::get({rows * columns}, f64));
  Value item = enterItemLoop(s, kernel, forms);
  Value blocks = s.constantIndex(columnBlocks);
  Value firstRow = s.mul(s.div(item, blocks), s.constantIndex(rows));
  Value firstColumn = s.mul(s.rem(item, blocks), s.constantIndex(columns));
  Value ownRows = s.minimum(s.constantIndex(rows),
                            s.sub(s.constantIndex(plan->rows), firstRow));
  Value ownColumns =
      s.minimum(s.constantIndex(columns),
                s.sub(s.constantIndex(plan->width), firstColumn));
  auto cell = [&](Value row, Value column) {
    return s.add(s.mul(row, s.constantIndex(columns)), column);
  };
  auto read = [&](Value at) {
    return loadElement(s.b, kernel.loc, cells, at, f64, false);
  };

  loop(s, s.constantIndex(rows * columns), true, [&](Value i) {
    Value zero = s.b.create<arith::ConstantOp>(s.b.getF64FloatAttr(0));
    storeElement(s.b, kernel.loc, zero, cells, i, f64);
  });
  loop(s, s.constantIndex(plan->count), false, [&](Value n) {
    Value local = s.sub(emitScatterRow(s, pull, *plan, n), firstRow);
    auto own = s.b.create<scf::IfOp>(
        s.compare(Compare::Less, local,
                  ownRows)); // Unsigned: rows before the block are not less.
    OpBuilder::InsertionGuard guard(s.b);
    s.b.setInsertionPointToStart(own.thenBlock());
    loop(s, ownColumns, true, [&](Value c) {
      Value update = pull.at(s.b, plan->updates, {n, s.add(firstColumn, c)});
      storeElement(s.b, kernel.loc,
                   s.add(read(cell(local, c)), s.convert(update, f64)), cells,
                   cell(local, c), f64);
    });
  });
  loop(s, ownRows, false, [&](Value r) {
    loop(s, ownColumns, true, [&](Value c) {
      Value row = s.add(firstRow, r), column = s.add(firstColumn, c);
      pull.setReader([&](OpBuilder &b, Value v, ValueRange index) -> Value {
        bool here = v.getDefiningOp() == plan->op &&
                    forms.of(index[0]) == forms.of(row) &&
                    forms.of(index[1]) == forms.of(column);
        return here ? ScalarBuilder(b, kernel.loc)
                          .convert(loadElement(b, kernel.loc, cells, cell(r, c),
                                               f64, false),
                                   b.getF32Type())
                    : Value();
      });
      pull.storeOutputs(s.b, kernel.allOutputs(), {row, column});
    });
  });
  return failure(pull.hasFailed());
}

} // namespace halftone::codegen
