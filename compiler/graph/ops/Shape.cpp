// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {
namespace {

/// ONNX: negative bounds count from the end, both are clamped.
ArrayRef<int64_t> namedExtents(ArrayRef<int64_t> shape, int64_t start,
                               std::optional<int64_t> end) {
  auto rank = static_cast<int64_t>(shape.size());
  auto place = [&](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
  };
  int64_t from = place(start), to = place(end.value_or(rank));
  return from < to ? shape.slice(from, to - from) : ArrayRef<int64_t>();
}

} // namespace

LogicalResult ShapeOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getData().getType());
  ArrayRef<int64_t> extents =
      namedExtents(type.getShape(), adaptor.getStart(), adaptor.getEnd());
  types.push_back(
      RankedTensorType::get({static_cast<int64_t>(extents.size())},
                            IntegerType::get(type.getContext(), 64)));
  return success();
}

LogicalResult ShapeOp::evaluate(ArrayRef<HostTensor>,
                                SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(*this);
  llvm::copy(namedExtents(shapeOf(getData()), getStart(), getEnd()),
             out.ints.begin());
  results.push_back(std::move(out));
  return success();
}

Value ShapeOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  Type i64 = b.b.getI64Type();
  Value extent = b.constantInt(0, i64);
  for (auto [k, known] : llvm::enumerate(
           namedExtents(shapeOf(getData()), getStart(), getEnd()))) {
    Value here = b.compare(Compare::Equal, index[0],
                           b.constantIndex(static_cast<int64_t>(k)));
    extent = b.select(here, b.constantInt(known, i64), extent);
  }
  return extent;
}

OpFoldResult ShapeOp::fold(FoldAdaptor) {
  return DenseIntElementsAttr::get(
      cast<ShapedType>(getType()),
      namedExtents(shapeOf(getData()), getStart(), getEnd()));
}

} // namespace halftone::graph
