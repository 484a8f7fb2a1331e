// SPDX-License-Identifier: Apache-2.0
// Canonical forms of a matrix product: transposes inside its flags, and batch
// axes that a library can stride over.
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {
namespace {

/// The operand of a transpose that swaps the last two axes and leaves the
/// others; null for any other value.
Value transposedMatrix(Value v) {
  auto transpose = v.getDefiningOp<TransposeOp>();
  int64_t rank = rankOf(v);
  if (!transpose || rank < 2)
    return nullptr;
  if (!transpose.getPerm())
    return rank == 2 ? transpose.getData() : nullptr;
  ArrayRef<int64_t> perm = *transpose.getPerm();
  for (int64_t axis = 0; axis < rank - 2; ++axis)
    if (perm[axis] != axis)
      return nullptr;
  return perm[rank - 1] == rank - 2 ? transpose.getData() : nullptr;
}

/// matmul(transpose(a), b) ==> matmul(a, b) with the flag turned.
struct FoldTransposes : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp op,
                                PatternRewriter &rewriter) const override {
    Value a = transposedMatrix(op.getA()), b = transposedMatrix(op.getB());
    if (!a && !b)
      return failure();
    rewriter.replaceOpWithNewOp<MatMulOp>(
        op, a ? a : op.getA(), b ? b : op.getB(), op.getBias(),
        op.getTransposeA() != static_cast<bool>(a),
        op.getTransposeB() != static_cast<bool>(b));
    return success();
  }
};

/// `v` with its batch axes expanded to `batch`, unless one matrix serves all.
Value expandBatch(PatternRewriter &rewriter, Location loc, Value v,
                  ArrayRef<int64_t> batch) {
  ArrayRef<int64_t> shape = shapeOf(v);
  int64_t count = numElements(shape.drop_back(2));
  if (count == 1 || count == numElements(batch))
    return v;
  SmallVector<int64_t> target(batch);
  target.append(shape.end() - 2, shape.end());
  return rewriter.create<ExpandOp>(loc, v, target);
}

/// [2,1,m,k] x [1,3,k,n] ==> [2,3,m,k] x [2,3,k,n].
struct ExpandBatches : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> batch = shapeOf(op.getC()).drop_back(2);
    if (numElements(shapeOf(op.getA()).drop_back(2)) == 1 ||
        numElements(shapeOf(op.getB()).drop_back(2)) == 1)
      return failure();
    Value a = expandBatch(rewriter, op.getLoc(), op.getA(), batch),
          b = expandBatch(rewriter, op.getLoc(), op.getB(), batch);
    if (a == op.getA() && b == op.getB())
      return failure();
    rewriter.replaceOpWithNewOp<MatMulOp>(
        op, a, b, op.getBias(), op.getTransposeA(), op.getTransposeB());
    return success();
  }
};

} // namespace

void MatMulOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<FoldTransposes, ExpandBatches>(context);
}

} // namespace halftone::graph
