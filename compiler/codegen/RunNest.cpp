// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/RunNest.h"
#include "compiler/codegen/LowerToLLVM.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {

void RunNest::setRow(ScalarBuilder &s, Value number) {
  SmallVector<int64_t> extents;
  for (auto [extent, isReduced] :
       llvm::zip_equal(plan.space.extents, plan.space.kinds))
    if (!isReduced)
      extents.push_back(extent);
  SmallVector<Value> index = s.delinearize(number, extents);
  size_t next = 0;
  for (size_t run = 0; run < row.size(); ++run)
    if (!plan.space.kinds[run])
      row[run] = index[next++];
}

Value RunNest::setOuterRuns(ScalarBuilder &s, Value number, int64_t pieces) {
  SmallVector<int64_t> extents;
  SmallVector<size_t> runs;
  for (size_t run = 0; run + 1 < row.size(); ++run)
    if (!plan.space.kinds[run]) {
      runs.push_back(run);
      extents.push_back(plan.space.extents[run]);
    }
  extents.push_back(pieces);
  SmallVector<Value> index = s.delinearize(number, extents);
  Value piece = index.pop_back_val();
  for (auto [run, i] : llvm::zip_equal(runs, index))
    row[run] = i;
  return piece;
}

SmallVector<Value> RunNest::rowIndex(ScalarBuilder &s) const {
  SmallVector<Value> index(row);
  for (Value &i : index)
    i = i ? i : s.constantIndex(0);
  return plan.space.expand(s.b, s.b.getLoc(), index);
}

SmallVector<Value> RunNest::fullIndex(ScalarBuilder &s,
                                      ValueRange reduced) const {
  SmallVector<Value> index(row);
  size_t next = 0;
  for (size_t run = 0; run < row.size(); ++run)
    if (plan.space.kinds[run])
      index[run] = reduced[next++];
  return plan.space.expand(s.b, s.b.getLoc(), index);
}

SmallVector<int64_t> RunNest::reducedExtents() const {
  SmallVector<int64_t> extents;
  for (auto [extent, isReduced] :
       llvm::zip_equal(plan.space.extents, plan.space.kinds))
    if (isReduced)
      extents.push_back(extent);
  return extents;
}

bool RunNest::isAtRow(ValueRange index, ArrayRef<int64_t> shape) {
  size_t missing = plan.domain.size() - shape.size();
  for (size_t run = 0; run < row.size(); ++run) {
    auto [first, last] = plan.space.runs[run];
    if (plan.space.kinds[run])
      continue;
    // The run's index as a sum of the value's own indices; a value that is
    // broadcast along the run is the same for all rows.
    IndexForm named;
    bool broadcast = plan.space.extents[run] != 1;
    for (unsigned d = first; d < last; ++d) {
      int64_t extent = d < missing ? 1 : shape[d - missing];
      broadcast &= extent == 1;
      named = extent == 1
                  ? named * plan.domain[d]
                  : named * plan.domain[d] + forms.of(index[d - missing]);
    }
    if (!broadcast && !(named == forms.of(row[run])))
      return false;
  }
  return true;
}

SmallVector<Value> RunNest::loop(ScalarBuilder &s, ValueRange start,
                                 bool markParallel, Body body) {
  SmallVector<int64_t> extents = reducedExtents();
  SmallVector<Value> index;
  std::function<SmallVector<Value>(SmallVector<Value>)> nest =
      [&](SmallVector<Value> carried) {
        size_t depth = index.size();
        if (depth == extents.size())
          return body(index, carried);
        OpBuilder::InsertionGuard guard(s.b);
        auto loop = s.b.create<scf::ForOp>(s.constantIndex(0),
                                           s.constantIndex(extents[depth]),
                                           s.constantIndex(1), carried);
        if (markParallel && depth + 1 == extents.size())
          loop->setAttr(kParallelLoop, s.b.getUnitAttr());
        s.b.setInsertionPointToStart(loop.getBody());
        index.push_back(loop.getInductionVar());
        SmallVector<Value> next =
            nest(SmallVector<Value>(loop.getRegionIterArgs()));
        index.pop_back();
        if (!carried.empty())
          s.b.create<scf::YieldOp>(next);
        return SmallVector<Value>(loop.getResults());
      };
  return nest(SmallVector<Value>(start));
}

} // namespace halftone::codegen
