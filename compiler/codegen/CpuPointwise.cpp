// SPDX-License-Identifier: Apache-2.0
// A work item is a piece of a row of the innermost dimension; the loop over it
// is what LLVM vectorises. Outputs of different shapes follow one another in
// the range of work items.
#include "compiler/codegen/KernelFunction.h"
#include "compiler/codegen/LowerToLLVM.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

/// Elements of a work item at most, and of the smallest range worth a thread.
constexpr int64_t kPiece = 1024, kGrain = 16384;

class CpuPointwise {
public:
  CpuPointwise(KernelFunction &kernel, const OutputGroup &group,
               const Space &space)
      : kernel(kernel), group(group), space(space), s(kernel.b, kernel.loc),
        pull(kernel.fused, kernel.buffers, kernel.writable, forms),
        inner(space.extents.back()), rows(space.size() / inner),
        pieces(llvm::divideCeil(inner, kPiece)) {}

  int64_t items() const { return rows * pieces; }
  int64_t grain() const {
    return std::max<int64_t>(1, kGrain / std::min(inner, kPiece));
  }

  /// Computes items [begin, end).
  LogicalResult emit(Value begin, Value end) {
    Value piece = s.constantIndex(kPiece);
    if (rows == 1) { // One loop over the whole range.
      innerLoop({}, s.mul(begin, piece), clamp(s.mul(end, piece)));
      return failure(pull.hasFailed());
    }
    auto loop = s.b.create<scf::ForOp>(begin, end, s.constantIndex(1));
    s.b.setInsertionPointToStart(loop.getBody());
    forms.setRange(loop.getInductionVar(), 0, items() - 1);
    SmallVector<int64_t> extents(ArrayRef(space.extents).drop_back());
    extents.push_back(pieces);
    SmallVector<Value> index = s.delinearize(loop.getInductionVar(), extents);
    Value lower = s.mul(index.pop_back_val(), piece);
    if (pieces == 1)
      innerLoop(index, s.constantIndex(0), s.constantIndex(inner));
    else
      innerLoop(index, lower, clamp(s.add(lower, piece)));
    return failure(pull.hasFailed());
  }

private:
  Value clamp(Value x) { return s.minimum(x, s.constantIndex(inner)); }

  void innerLoop(ValueRange outer, Value lower, Value upper) {
    auto loop = s.b.create<scf::ForOp>(lower, upper, s.constantIndex(1));
    loop->setAttr(kParallelLoop, s.b.getUnitAttr());
    s.b.setInsertionPointToStart(loop.getBody());
    forms.setRange(loop.getInductionVar(), 0, inner - 1);
    SmallVector<Value> index(outer);
    index.push_back(loop.getInductionVar());
    pull.storeOutputs(s.b, group.outputs, space.expand(s.b, kernel.loc, index));
  }

  KernelFunction &kernel;
  const OutputGroup &group;
  const Space &space;
  ScalarBuilder s;
  IndexForms forms;
  Pull pull;
  int64_t inner, rows, pieces;
};

} // namespace

LogicalResult emitCpuPointwise(KernelFunction &kernel) {
  SmallVector<OutputGroup> groups = groupOutputs(kernel.fused);
  kernel.info.schedule = "pointwise";
  int64_t base = 0;
  for (const OutputGroup &group : groups) {
    auto space = groupSpace(kernel, group, groups.size() == 1);
    if (failed(space))
      return failure();
    CpuPointwise emitter(kernel, group, *space);
    ScalarBuilder s(kernel.b, kernel.loc);
    Value begin = kernel.begin, end = kernel.end;
    if (groups.size() > 1) { // The part of the range that falls to this group,
                             // counted from its first item; perhaps empty.
      auto within = [&](Value x) {
        Value first = s.constantIndex(base),
              past = s.constantIndex(base + emitter.items());
        return s.sub(s.minimum(s.maximum(x, first), past), first);
      };
      begin = within(begin);
      end = within(end);
    }
    if (failed(emitter.emit(begin, end)))
      return failure();
    base += emitter.items();
    kernel.info.grain = std::max(kernel.info.grain, emitter.grain());
  }
  kernel.info.workItems = base;
  return success();
}

} // namespace halftone::codegen
