// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/SplitReductions.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

/// Results that keep a large GPU busy, with a block of warps for each 32 of
/// them; columns that are not worth a second kernel.
constexpr int64_t kEnoughResults = 4096, kShortColumn = 1024;

int64_t product(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  int64_t n = 1;
  for (int64_t axis : axes)
    n *= shape[axis];
  return n;
}

/// The axes of the first stage, the innermost of `axes`; empty where one stage
/// is as good.
ArrayRef<int64_t> firstStage(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  int64_t count = product(shape, axes);
  bool keepsInnermost = false;
  for (int64_t axis = static_cast<int64_t>(shape.size()) - 1;
       axis >= 0 && !keepsInnermost; --axis) {
    if (shape[axis] != 1 && llvm::is_contained(axes, axis))
      return {};
    keepsInnermost = shape[axis] != 1;
  }
  if (!keepsInnermost || count <= kShortColumn)
    return {};
  int64_t results = numElements(shape) / count;
  size_t outer = 0;
  while (outer + 1 < axes.size() && results < kEnoughResults)
    results *= shape[axes[outer++]];
  return outer == 0 ? ArrayRef<int64_t>() : axes.drop_front(outer);
}

Value build(ImplicitLocOpBuilder &b, ReductionOpInterface reduction, Value data,
            ArrayRef<int64_t> axes, Type elementType) {
  Value result = reduction.buildOver(b, data, axes);
  result.setType(RankedTensorType::get(shapeOf(result), elementType));
  return result;
}

} // namespace

void splitReductions(ProgramOp program) {
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    if (!reduction || !reduction.reducesInStages() ||
        numElements(shapeOf(op.getOperand(0))) == 0)
      continue;
    SmallVector<int64_t> axes = reduction.getReducedAxes();
    ArrayRef<int64_t> first = firstStage(shapeOf(op.getOperand(0)), axes);
    if (first.empty())
      continue;
    OriginTagger tagger(llvm::to_vector(op.getDiscardableAttrs()));
    OpBuilder builder(&op, &tagger);
    ImplicitLocOpBuilder b(op.getLoc(), builder);
    // What lies in memory between the stages is not rounded to a low type.
    Value result = op.getResult(0);
    Type type = elementTypeOf(result);
    Value parts = build(b, reduction, op.getOperand(0), first,
                        isa<FloatType>(type) ? b.getF32Type() : type);
    Value whole = build(b, reduction, parts,
                        ArrayRef(axes).drop_back(first.size()), type);
    result.replaceAllUsesWith(whole);
    op.erase();
  }
}

} // namespace halftone::passes
