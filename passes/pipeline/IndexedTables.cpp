// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline/IndexedTables.h"
#include "passes/pipeline/InputPlaces.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

/// Indices of an op, and the rows that index `i` counts: rows[i % rows.size()].
struct Indexing {
  Operation *op;
  Value indices;
  SmallVector<int64_t> rows;
};

std::optional<Indexing> indexingOf(Operation &op) {
  auto alongAxis = [](auto gather) -> std::optional<Indexing> {
    ArrayRef<int64_t> table = shapeOf(gather.getData());
    auto axis =
        normalizeAxis(gather.getAxis(), static_cast<int64_t>(table.size()));
    if (failed(axis))
      return std::nullopt;
    return Indexing{gather, gather.getIndices(), {table[*axis]}};
  };
  if (auto gather = dyn_cast<GatherOp>(op))
    return alongAxis(gather);
  if (auto gather = dyn_cast<GatherElementsOp>(op))
    return alongAxis(gather);
  if (auto gather = dyn_cast<GatherNDOp>(op))
    return Indexing{
        gather, gather.getIndices(),
        SmallVector<int64_t>(shapeOf(gather.getData())
                                 .slice(gather.getBatchDims(),
                                        shapeOf(gather.getIndices()).back()))};
  return std::nullopt;
}

/// Indices that the file fixes; negative ones count from the end.
LogicalResult verifyConstant(const Indexing &indexing) {
  auto constant = indexing.indices.getDefiningOp<ConstantOp>();
  auto values =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!values)
    return success();
  for (auto [i, index] : llvm::enumerate(values.getValues<APInt>())) {
    int64_t rows = indexing.rows[i % indexing.rows.size()];
    if (index.getSExtValue() < -rows || index.getSExtValue() >= rows)
      return indexing.op->emitError("the index ")
             << index.getSExtValue() << " lies outside the " << rows
             << " rows of its table";
  }
  return success();
}

/// The largest of what the rows of a batch ask for, an element of a row each:
/// what one of them does not ask for is not wrong.
ArrayRef<int64_t> loosestOf(const IndexedRows &indexed, int64_t batch,
                            std::vector<int64_t> &storage) {
  ArrayRef<int64_t> rows = indexed.rows;
  if (indexed.shape.empty() || indexed.shape.front() != batch)
    return rows;
  size_t width = rows.size() / static_cast<size_t>(batch);
  storage = rows.take_front(width);
  for (size_t i = width; i < rows.size(); ++i)
    storage[i % width] = std::max(storage[i % width], rows[i]);
  return storage;
}

} // namespace

FailureOr<llvm::StringMap<IndexedRows>> findIndexedTables(ProgramOp program) {
  SmallVector<Indexing> indexings;
  bool valid = true;
  for (Operation &op : program.getBody().front())
    if (std::optional<Indexing> indexing = indexingOf(op)) {
      valid &= succeeded(verifyConstant(*indexing));
      indexings.push_back(std::move(*indexing));
    }
  if (!valid)
    return failure();
  SmallVector<Value> wanted;
  for (const Indexing &indexing : indexings)
    wanted.push_back(indexing.indices);
  auto places = InputPlaces::find(program, wanted);
  if (failed(places))
    return failure();
  llvm::StringMap<IndexedRows> found;
  for (const Indexing &indexing : indexings)
    for (int64_t i = 0, n = numElements(shapeOf(indexing.indices)); i < n;
         ++i) {
      std::optional<InputElement> element = places->at(indexing.indices, i);
      if (!element)
        continue;
      IndexedRows &entry = found[element->input.getName()];
      if (entry.rows.empty()) {
        entry.shape = llvm::to_vector(shapeOf(element->input));
        entry.rows.assign(numElements(entry.shape), IndexedRows::kNone);
      }
      int64_t &rows = entry.rows[element->offset];
      rows = std::min(rows, indexing.rows[i % indexing.rows.size()]);
    }
  return found;
}

void boundIndices(const IndexedRows &indexed, int64_t batch,
                  proto::Input &input) {
  // ONNX: negative indices count from the end.
  auto bound = [](int64_t rows, auto &entry) {
    entry.set_minimum(-rows);
    entry.set_maximum(rows - 1);
  };
  std::vector<int64_t> storage;
  ArrayRef<int64_t> rows = loosestOf(indexed, batch, storage);
  if (rows.front() != IndexedRows::kNone && llvm::all_equal(rows))
    return bound(rows.front(), input);
  for (size_t first = 0, end; first < rows.size(); first = end) {
    for (end = first + 1; end < rows.size() && rows[end] == rows[first];)
      ++end;
    if (rows[first] == IndexedRows::kNone)
      continue;
    proto::Bound &stretch = *input.add_bounds();
    stretch.set_first(first);
    stretch.set_end(end);
    bound(rows[first], stretch);
  }
}

} // namespace halftone::passes
