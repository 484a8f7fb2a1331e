// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {
namespace {

/// ONNX: without `perm` the axes are reversed.
SmallVector<int64_t> permutation(std::optional<ArrayRef<int64_t>> perm,
                                 int64_t rank) {
  if (perm)
    return SmallVector<int64_t>(*perm);
  return SmallVector<int64_t>(
      llvm::reverse(llvm::to_vector(llvm::seq<int64_t>(0, rank))));
}

} // namespace

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getData().getType());
  SmallVector<int64_t> perm = permutation(adaptor.getPerm(), input.getRank());
  SmallVector<int64_t> sorted = perm, shape;
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, input.getRank())))
    return emitOptionalError(location, "perm [", perm,
                             "] is no permutation of ", input.getRank(),
                             " axes");
  for (int64_t axis : perm)
    shape.push_back(input.getDimSize(axis));
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult TransposeOp::evaluate(ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  SmallVector<int64_t> perm = permutation(getPerm(), rankOf(getData()));
  SmallVector<int64_t> strides = rowMajorStrides(shapeOf(getData()));
  return evaluateMove(*this, operands[0], results,
                      [&](ArrayRef<int64_t> index) {
                        int64_t offset = 0;
                        for (auto [i, axis] : llvm::zip_equal(index, perm))
                          offset += i * strides[axis];
                        return offset;
                      });
}

Value TransposeOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  SmallVector<Value> source(index.size());
  for (auto [i, axis] :
       llvm::zip_equal(index, permutation(getPerm(), rankOf(getData()))))
    source[axis] = i;
  return b.load(0, source);
}

SmallVector<Value> TransposeOp::buildVjp(ImplicitLocOpBuilder &b,
                                         ValueRange grads) {
  SmallVector<int64_t> perm = permutation(getPerm(), rankOf(getData())),
                       inverse(perm.size());
  for (auto [i, axis] : llvm::enumerate(perm))
    inverse[axis] = static_cast<int64_t>(i);
  return {b.create<TransposeOp>(grads[0], b.getDenseI64ArrayAttr(inverse))};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  SmallVector<int64_t> perm = permutation(getPerm(), rankOf(getData()));
  return llvm::is_sorted(perm) ? OpFoldResult(getData()) : OpFoldResult();
}

LogicalResult TransposeOp::canonicalize(TransposeOp op,
                                        PatternRewriter &rewriter) {
  DictionaryAttr attributes = op->getDiscardableAttrDictionary();
  SmallVector<int64_t> perm = permutation(op.getPerm(), rankOf(op.getData()));
  // Axes of extent 1 may go anywhere without an element moving.
  SmallVector<int64_t> moving;
  for (int64_t axis : perm)
    if (shapeOf(op.getData())[axis] != 1)
      moving.push_back(axis);
  if (llvm::is_sorted(moving)) {
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getData(), shapeOf(op))
        ->setDiscardableAttrs(attributes);
    return success();
  }
  auto inner = op.getData().getDefiningOp<TransposeOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> first = permutation(inner.getPerm(), perm.size());
  for (int64_t &axis : perm)
    axis = first[axis];
  auto order = rewriter.getDenseI64ArrayAttr(perm);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, inner.getData(), order)
      ->setDiscardableAttrs(attributes);
  return success();
}

} // namespace halftone::graph
