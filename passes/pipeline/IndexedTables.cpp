// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline/IndexedTables.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

/// Whether every element of the operand is in the result, as it is. A slice
/// leaves some out, which may then be anything.
bool keepsValues(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op))
    return isa<IntegerType>(elementTypeOf(cast->getOperand(0))) &&
           isa<IntegerType>(elementTypeOf(cast)) &&
           !elementTypeOf(cast).isInteger(1);
  return isa<IdentityOp, ReshapeOp, FlattenOp, SqueezeOp, UnsqueezeOp,
             TransposeOp, ExpandOp, TileOp>(op);
}

InputOp sourceOf(Value indices) {
  Operation *op = indices.getDefiningOp();
  while (op && keepsValues(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<InputOp>(op);
}

} // namespace

llvm::StringMap<int64_t> findIndexedTables(ProgramOp program) {
  llvm::StringMap<int64_t> rows;
  auto note = [&](auto gather) {
    ArrayRef<int64_t> table = shapeOf(gather.getData());
    auto axis =
        normalizeAxis(gather.getAxis(), static_cast<int64_t>(table.size()));
    InputOp input = sourceOf(gather.getIndices());
    if (failed(axis) || !input)
      return;
    auto [entry, isNew] = rows.try_emplace(input.getName(), table[*axis]);
    entry->second = std::min(entry->second, table[*axis]);
  };
  for (Operation &op : program.getBody().front())
    if (auto gather = dyn_cast<GatherOp>(op))
      note(gather);
    else if (auto gather = dyn_cast<GatherElementsOp>(op))
      note(gather);
  return rows;
}

} // namespace halftone::passes
