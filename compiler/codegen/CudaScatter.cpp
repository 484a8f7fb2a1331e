// SPDX-License-Identifier: Apache-2.0
// A warp owns a row of the result and some of its columns: the lanes look
// through the row numbers side by side and vote, then the warp adds what was
// found in ascending order.
#include "compiler/codegen/CudaBuilder.h"
#include "compiler/codegen/ScatterPlan.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

/// Columns that a lane keeps in registers, and warps of a block.
constexpr int64_t kColumns = 16, kWarps = 4;

class CudaScatter {
public:
  CudaScatter(KernelFunction &kernel, const ScatterPlan &plan)
      : kernel(kernel), plan(plan), s(kernel),
        pull(kernel.fused, kernel.buffers, kernel.writable, forms) {}

  LogicalResult emit();

private:
  SmallVector<Value> addUp(Value row);
  /// Adds the updates whose lanes voted, lowest first.
  SmallVector<Value> addVoted(Value mask, Value start, ValueRange sums);

  KernelFunction &kernel;
  const ScatterPlan &plan;
  CudaBuilder s;
  IndexForms forms;
  Pull pull;
  Value lane;
  SmallVector<Value>
      columns; ///< Of the lane; clamped to the last one where the row ends.
};

LogicalResult CudaScatter::emit() {
  int64_t perLane =
              std::min<int64_t>(kColumns, llvm::divideCeil(plan.width, kWarp)),
          across = llvm::divideCeil(plan.width, kWarp * perLane);
  int64_t units = plan.rows * across;
  s.launch(llvm::divideCeil(units, kWarps), kWarps * kWarp);
  kernel.info.schedule = "scatter";
  Value id = s.thread(forms);
  lane = s.rem(id, s.constantIndex(kWarp));
  Value unit = s.add(s.mul(s.block(forms), s.constantIndex(kWarps)),
                     s.div(id, s.constantIndex(kWarp)));
  forms.setRange(unit, 0, units - 1);
  s.when(s.compare(Compare::Less, unit, s.constantIndex(units)), [&] {
    Value row = s.div(unit, s.constantIndex(across));
    Value first = s.add(s.mul(s.rem(unit, s.constantIndex(across)),
                              s.constantIndex(perLane * kWarp)),
                        lane);
    SmallVector<Value> exists;
    for (int64_t k = 0; k < perLane; ++k) {
      Value column = s.add(first, s.constantIndex(k * kWarp));
      exists.push_back(
          s.compare(Compare::Less, column, s.constantIndex(plan.width)));
      columns.push_back(s.minimum(column, s.constantIndex(plan.width - 1)));
      forms.setRange(columns.back(), 0, plan.width - 1);
    }
    SmallVector<Value> sums = addUp(row);
    for (auto [column, sum, inside] : llvm::zip_equal(columns, sums, exists))
      s.when(inside, [&, column = column, sum = sum] {
        pull.setReader([&](OpBuilder &b, Value v, ValueRange index) -> Value {
          bool here = isResultAt(plan, forms, v, index, row, column);
          return here
                     ? ScalarBuilder(b, kernel.loc).convert(sum, b.getF32Type())
                     : Value();
        });
        pull.storeOutputs(s.b, kernel.allOutputs(), {row, column});
      });
  });
  return failure(pull.hasFailed());
}

SmallVector<Value> CudaScatter::addUp(Value row) {
  OpBuilder::InsertionGuard guard(s.b);
  Value zero = s.b.create<arith::ConstantOp>(s.b.getF64FloatAttr(0));
  SmallVector<Value> start(columns.size(), zero);
  auto loop =
      s.b.create<scf::ForOp>(s.constantIndex(0), s.constantIndex(plan.count),
                             s.constantIndex(kWarp), start);
  s.b.setInsertionPointToStart(loop.getBody());
  Value own = s.add(loop.getInductionVar(), lane);
  Value inside = s.compare(Compare::Less, own, s.constantIndex(plan.count));
  own = s.minimum(own, s.constantIndex(plan.count - 1));
  forms.setRange(own, 0, plan.count - 1);
  Value hit =
      s.andi(inside, s.compare(Compare::Equal,
                               emitScatterRow(s, pull, plan, own), row));
  s.b.create<scf::YieldOp>(addVoted(s.ballot(hit), loop.getInductionVar(),
                                    loop.getRegionIterArgs()));
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> CudaScatter::addVoted(Value mask, Value start,
                                         ValueRange sums) {
  OpBuilder::InsertionGuard guard(s.b);
  SmallVector<Value> carried{mask};
  llvm::append_range(carried, sums);
  SmallVector<Type> types(ValueRange(carried).getTypes());
  SmallVector<Location> locations(types.size(), kernel.loc);
  auto loop = s.b.create<scf::WhileOp>(types, carried);
  Block *test = s.b.createBlock(&loop.getBefore(), {}, types, locations);
  Value more = s.compare(Compare::NotEqual, test->getArgument(0),
                         s.constantInt(0, s.b.getI32Type()));
  s.b.create<scf::ConditionOp>(more, test->getArguments());
  Block *body = s.b.createBlock(&loop.getAfter(), {}, types, locations);
  Value bits = body->getArgument(0);
  Value n =
      s.add(start, s.toIndex(s.b.create<math::CountTrailingZerosOp>(bits)));
  forms.setRange(n, 0, plan.count - 1);
  SmallVector<Value> next{
      s.andi(bits, s.sub(bits, s.constantInt(1, s.b.getI32Type())))};
  for (auto [k, column] : llvm::enumerate(columns)) {
    Value update = pull.at(s.b, plan.updates, {n, column});
    next.push_back(
        s.add(body->getArgument(k + 1), s.convert(update, s.b.getF64Type())));
  }
  s.b.create<scf::YieldOp>(next);
  return SmallVector<Value>(loop.getResults().drop_front());
}

} // namespace

LogicalResult emitCudaScatter(KernelFunction &kernel) {
  auto plan = planScatter(kernel.fused);
  if (failed(plan) || failed(kernel.noteReuse(nullptr)))
    return failure();
  return CudaScatter(kernel, *plan).emit();
}

} // namespace halftone::codegen
