// SPDX-License-Identifier: Apache-2.0
#include "compiler/exec/ExecOps.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"
#include <numeric>

using namespace mlir;

namespace halftone::graph {
namespace {

/// Extents of one product: C[m,n] = A[m,k] B[k,n], and the batches of each
/// operand.
struct Extents {
  int64_t m, n, k, kB;
  SmallVector<int64_t> batchA, batchB;
};

Extents extentsOf(Value a, Value b, bool transposeA, bool transposeB) {
  ArrayRef<int64_t> sa = shapeOf(a), sb = shapeOf(b);
  Extents e;
  e.m = sa[sa.size() - (transposeA ? 1 : 2)];
  e.k = sa[sa.size() - (transposeA ? 2 : 1)];
  e.kB = sb[sb.size() - (transposeB ? 1 : 2)];
  e.n = sb[sb.size() - (transposeB ? 2 : 1)];
  e.batchA.assign(sa.begin(), sa.end() - 2);
  e.batchB.assign(sb.begin(), sb.end() - 2);
  return e;
}

Value collapseRows(ImplicitLocOpBuilder &b, Value x) {
  int64_t columns = shapeOf(x).back();
  return b.create<ReshapeOp>(
      x, ArrayRef<int64_t>{numElements(shapeOf(x)) / columns, columns});
}

} // namespace

LogicalResult MatMulOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (rankOf(adaptor.getA()) < 2 || rankOf(adaptor.getB()) < 2)
    return emitOptionalError(location, "operands need rank 2 or more, got ",
                             adaptor.getA().getType(), " and ",
                             adaptor.getB().getType());
  Extents e = extentsOf(adaptor.getA(), adaptor.getB(), adaptor.getTransposeA(),
                        adaptor.getTransposeB());
  auto batch = broadcastShapes(e.batchA, e.batchB);
  if (e.k != e.kB || failed(batch))
    return emitOptionalError(
        location, "shapes do not multiply: ", adaptor.getA().getType(), " and ",
        adaptor.getB().getType());
  if (Value bias = adaptor.getBias();
      bias && shapeOf(bias) != ArrayRef<int64_t>{e.n})
    return emitOptionalError(location, "bias ", bias.getType(),
                             " does not hold one value for each of ", e.n,
                             " columns");
  batch->append({e.m, e.n});
  types.push_back(RankedTensorType::get(*batch, elementTypeOf(adaptor.getA())));
  return success();
}

LogicalResult MatMulOp::evaluate(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  Extents e = extentsOf(getA(), getB(), getTransposeA(), getTransposeB());
  HostTensor out = resultTensor(*this);
  ArrayRef<int64_t> batches = out.getShape().drop_back(2);
  SmallVector<int64_t> index(batches.size(), 0);
  for (int64_t batch = 0, n = numElements(batches); batch < n;
       ++batch, nextIndex(index, batches)) {
    const double *a = operands[0].floats.data() +
                      broadcastOffset(index, e.batchA) * e.m * e.k;
    const double *b = operands[1].floats.data() +
                      broadcastOffset(index, e.batchB) * e.k * e.n;
    for (int64_t i = 0; i < e.m; ++i)
      for (int64_t j = 0; j < e.n; ++j) {
        double sum = operands.size() > 2 ? operands[2].floats[j] : 0;
        for (int64_t p = 0; p < e.k; ++p)
          sum += (getTransposeA() ? a[p * e.m + i] : a[i * e.k + p]) *
                 (getTransposeB() ? b[j * e.k + p] : b[p * e.n + j]);
        out.floats[(batch * e.m + i) * e.n + j] = sum;
      }
  }
  results.push_back(std::move(out));
  return success();
}

// C = op(A) op(B): dA = dC op(B)^T and dB = op(A)^T dC, each transposed back
// where its operand was. A matrix B shared by all batches of A gets its
// gradient from one product over the collapsed rows instead of a sum over
// batches.
SmallVector<Value> MatMulOp::buildVjp(ImplicitLocOpBuilder &b,
                                      ValueRange grads) {
  Value a = getA(), w = getB(), dc = grads[0];
  bool ta = getTransposeA(), tb = getTransposeB();
  Value da = ta ? b.create<MatMulOp>(w, dc, tb, true)
                : b.create<MatMulOp>(dc, w, false, !tb);
  Value rowsA = a, rowsC = dc;
  if (!ta && rankOf(w) == 2 && rankOf(a) > 2) {
    rowsA = collapseRows(b, a);
    rowsC = collapseRows(b, dc);
  }
  Value dw = tb ? b.create<MatMulOp>(rowsC, rowsA, true, ta)
                : b.create<MatMulOp>(rowsA, rowsC, !ta, false);
  if (!getBias())
    return {da, dw};
  SmallVector<int64_t> rows(rankOf(dc) - 1);
  std::iota(rows.begin(), rows.end(), 0);
  Value sum = b.create<ReduceSumOp>(dc, b.getDenseI64ArrayAttr(rows));
  return {da, dw, b.create<ReshapeOp>(sum, shapeOf(getBias()))};
}

double MatMulOp::getFlops() {
  Extents e = extentsOf(getA(), getB(), getTransposeA(), getTransposeB());
  return 2.0 * static_cast<double>(numElements(shapeOf(getC()))) *
         static_cast<double>(e.k);
}

// Canonical products only: each operand has all batches or one matrix for all
// (MatMulPatterns.cpp).
void MatMulOp::lower(OpBuilder &b, ValueRange inputs, ValueRange outputs) {
  Extents e = extentsOf(getA(), getB(), getTransposeA(), getTransposeB());
  int64_t batch = numElements(shapeOf(getC())) / (e.m * e.n), m = e.m;
  int64_t strideA = numElements(e.batchA) == 1 ? 0 : e.m * e.k,
          strideB = numElements(e.batchB) == 1 ? 0 : e.k * e.n;
  // One matrix B for all batches of A: the rows of A simply continue.
  if (batch > 1 && strideB == 0 && !getTransposeA()) {
    m *= batch;
    batch = 1;
    strideA = 0;
  }
  b.create<exec::MatMulOp>(getLoc(), inputs, outputs, batch, m, e.n, e.k,
                           getTransposeA(), getTransposeB(), strideA, strideB,
                           batch > 1 ? m * e.n : 0);
}

// C + bias, a value for each column: libraries add it before they round.
Value MatMulOp::buildWithEpilogue(ImplicitLocOpBuilder &b, Operation *next) {
  auto add = dyn_cast<AddOp>(next);
  if (!add || getBias() || add.getType() != getC().getType())
    return nullptr;
  Value bias = add->getOperand(add->getOperand(0) == getC() ? 1 : 0);
  int64_t columns = shapeOf(getC()).back();
  if (elementTypeOf(bias) != elementTypeOf(getC()) || rankOf(bias) == 0 ||
      shapeOf(bias).back() != columns || numElements(shapeOf(bias)) != columns)
    return nullptr;
  return b.create<MatMulOp>(getA(), getB(), reshapeTo(b, bias, {columns}),
                            getTransposeA(), getTransposeB());
}

} // namespace halftone::graph
