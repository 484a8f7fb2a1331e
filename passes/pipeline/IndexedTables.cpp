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

/// Indices that the file fixes; negative ones count from the end.
LogicalResult verifyConstant(Operation *gather, Value indices, int64_t rows) {
  auto constant = indices.getDefiningOp<ConstantOp>();
  auto values =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!values)
    return success();
  for (const APInt &index : values.getValues<APInt>())
    if (index.getSExtValue() < -rows || index.getSExtValue() >= rows)
      return gather->emitError("the index ")
             << index.getSExtValue() << " lies outside the " << rows
             << " rows of its table";
  return success();
}

} // namespace

FailureOr<llvm::StringMap<int64_t>> findIndexedTables(ProgramOp program) {
  llvm::StringMap<int64_t> rows;
  bool valid = true;
  auto note = [&](auto gather) {
    ArrayRef<int64_t> table = shapeOf(gather.getData());
    auto axis =
        normalizeAxis(gather.getAxis(), static_cast<int64_t>(table.size()));
    if (failed(axis))
      return;
    int64_t extent = table[*axis];
    valid &= succeeded(verifyConstant(gather, gather.getIndices(), extent));
    InputOp input = sourceOf(gather.getIndices());
    if (!input)
      return;
    auto [entry, isNew] = rows.try_emplace(input.getName(), extent);
    entry->second = std::min(entry->second, extent);
  };
  for (Operation &op : program.getBody().front())
    if (auto gather = dyn_cast<GatherOp>(op))
      note(gather);
    else if (auto gather = dyn_cast<GatherElementsOp>(op))
      note(gather);
  if (!valid)
    return failure();
  return rows;
}

} // namespace halftone::passes
