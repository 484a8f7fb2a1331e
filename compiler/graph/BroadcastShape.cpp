// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/BroadcastShape.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;

namespace halftone::graph {

ArrayRef<int64_t> shapeOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getShape();
}
int64_t rankOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getRank();
}
Type elementTypeOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getElementType();
}

FailureOr<SmallVector<int64_t>> broadcastShapes(ArrayRef<int64_t> a,
                                                ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<int64_t> result(a);
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t &x = result[result.size() - 1 - i];
    int64_t y = b[b.size() - 1 - i];
    if (x == 1)
      x = y;
    else if (y != 1 && y != x)
      return failure();
  }
  return result;
}

LogicalResult inferElementwise(std::optional<Location> location,
                               ValueRange operands, int typeOperand,
                               SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  for (Value v : operands) {
    auto joined = broadcastShapes(shape, shapeOf(v));
    if (failed(joined))
      return emitOptionalError(location, "operand shapes ", shape, " and ",
                               SmallVector<int64_t>(shapeOf(v)),
                               " do not broadcast");
    shape = *joined;
  }
  Type element = typeOperand < 0
                     ? Type(IntegerType::get(operands.front().getContext(), 1))
                     : elementTypeOf(operands[typeOperand]);
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

bool haveSameShapes(TypeRange a, TypeRange b) {
  if (a.size() != b.size())
    return false;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    auto l = dyn_cast<RankedTensorType>(x), r = dyn_cast<RankedTensorType>(y);
    if (!l || !r || l.getShape() != r.getShape())
      return false;
    bool bothFloat = isa<FloatType>(l.getElementType()) &&
                     isa<FloatType>(r.getElementType());
    if (!bothFloat && l.getElementType() != r.getElementType())
      return false;
  }
  return true;
}

FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return failure();
  return axis < 0 ? axis + rank : axis;
}

FailureOr<SmallVector<int64_t>> normalizeAxes(ArrayRef<int64_t> axes,
                                              int64_t rank) {
  SmallVector<int64_t> result;
  if (axes.empty()) {
    for (int64_t d = 0; d < rank; ++d)
      result.push_back(d);
    return result;
  }
  for (int64_t axis : axes) {
    auto normal = normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    result.push_back(*normal);
  }
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    return failure();
  return result;
}

int64_t numElements(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    if (llvm::MulOverflow(n, d, n))
      return std::numeric_limits<int64_t>::max();
  return n;
}

} // namespace halftone::graph
