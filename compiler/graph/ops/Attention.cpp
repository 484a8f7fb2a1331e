// SPDX-License-Identifier: Apache-2.0
// Attention in terms of products and a softmax.
#include "compiler/graph/Constants.h"
#include "compiler/graph/TensorMath.h"
#include "compiler/graph/ops/AttentionShape.h"
#include "compiler/graph/ops/Composite.h"

using namespace mlir;

namespace halftone::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// [batch, length, heads * size] ==> [batch, heads, length, size].
Value splitHeads(ImplicitLocOpBuilder &b, Value x, int64_t heads) {
  if (rankOf(x) == 4)
    return x;
  ArrayRef<int64_t> s = shapeOf(x);
  Value split = b.create<ReshapeOp>(
      x, ArrayRef<int64_t>{s[0], s[1], heads, s[2] / heads});
  return b.create<TransposeOp>(split, b.getDenseI64ArrayAttr({0, 2, 1, 3}));
}

Value joinHeads(ImplicitLocOpBuilder &b, Value x) {
  ArrayRef<int64_t> s = shapeOf(x);
  Value swapped =
      b.create<TransposeOp>(x, b.getDenseI64ArrayAttr({0, 2, 1, 3}));
  return b.create<ReshapeOp>(swapped,
                             ArrayRef<int64_t>{s[0], s[2], s[1] * s[3]});
}

Value behindPast(ImplicitLocOpBuilder &b, Value past, Value x) {
  return past ? b.create<ConcatOp>(ValueRange{past, x}, 2).getResult() : x;
}

/// The mask in rank 4, what lies behind its end excluded.
Value alignMask(ImplicitLocOpBuilder &b, Value mask, int64_t keys) {
  SmallVector<int64_t> shape(4 - rankOf(mask), 1);
  shape.append(shapeOf(mask).begin(), shapeOf(mask).end());
  mask = reshapeTo(b, mask, shape);
  if (shape.back() == 1 || shape.back() == keys)
    return mask;
  shape.back() = keys - shape.back();
  bool isFloat = isa<FloatType>(elementTypeOf(mask));
  return b.create<ConcatOp>(ValueRange{mask, full(b, shape, elementTypeOf(mask),
                                                  isFloat ? -kInfinity : 0)},
                            3);
}

/// Who attends to whom. Any value may be null: nothing is excluded, nothing
/// added, no query is without a key.
struct Mask {
  Value allowed; ///< bool
  Value added;   ///< float
  Value idle;    ///< bool, extent 1 along the keys: queries without any key.
};

void restrict(ImplicitLocOpBuilder &b, Value &allowed, Value condition) {
  allowed =
      allowed ? b.create<AndOp>(allowed, condition).getResult() : condition;
}

/// Excludes keys by their distance from the query: causal order and window.
void restrictByPosition(AttentionOp op, ImplicitLocOpBuilder &b,
                        const AttentionShape &s, Value &allowed) {
  bool causal = op.getIsCausal() != 0;
  int64_t left = op.getLeftWindowSize(), right = op.getRightWindowSize();
  if (!causal && left < 0 && right < 0)
    return;
  Value key = b.create<IotaOp>(ArrayRef<int64_t>{1, 1, 1, s.keys}, 3),
        query = b.create<IotaOp>(ArrayRef<int64_t>{1, 1, s.queries, 1}, 2);
  // The query's own place among the keys.
  if (Value lengths = op.getNonpadKvSeqlen()) {
    Value length = b.createOrFold<CastOp>(
        reshapeTo(b, lengths, {s.batch, 1, 1, 1}), b.getI64Type());
    query = plus(b, b.create<AddOp>(query, length),
                 static_cast<double>(-s.queries));
  } else if (s.past) {
    query = plus(b, query, static_cast<double>(s.past));
  }
  if (causal)
    restrict(b, allowed, b.create<LessOrEqualOp>(key, query));
  if (left >= 0)
    restrict(b, allowed,
             b.create<GreaterOrEqualOp>(
                 key, plus(b, query, static_cast<double>(-left))));
  if (right >= 0)
    restrict(b, allowed,
             b.create<LessOrEqualOp>(
                 key, plus(b, query, static_cast<double>(right))));
}

/// Whether `mask` is a constant in which every query may attend to some key.
bool leavesEachQueryAKey(Value mask) {
  auto constant = mask.getDefiningOp<ConstantOp>();
  auto values = constant ? HostTensor::fromAttr(constant.getValue())
                         : std::optional<HostTensor>();
  if (!values)
    return false;
  int64_t width = values->getShape().back(), allowed = 0;
  for (int64_t i = 0; i < values->size(); ++i) {
    allowed += values->isFloat() ? values->floats[i] > -kInfinity
                                 : values->ints[i] != 0;
    if ((i + 1) % width)
      continue;
    if (!allowed)
      return false;
    allowed = 0;
  }
  return true;
}

Mask buildMask(AttentionOp op, ImplicitLocOpBuilder &b,
               const AttentionShape &s) {
  Mask mask;
  restrictByPosition(op, b, s, mask.allowed);
  // Causal order alone leaves each query the first key, a window the query's
  // own place if that is a key.
  bool windowMayPass =
      op.getLeftWindowSize() >= 0 && s.queries + s.past > s.keys;
  bool maskMayExclude =
      op.getAttnMask() &&
      (mask.allowed || !leavesEachQueryAKey(op.getAttnMask()));
  bool mayBeIdle = op.getNonpadKvSeqlen() || maskMayExclude || windowMayPass;
  if (Value lengths = op.getNonpadKvSeqlen()) {
    Value key = b.create<IotaOp>(ArrayRef<int64_t>{1, 1, 1, s.keys}, 3);
    Value length = b.createOrFold<CastOp>(
        reshapeTo(b, lengths, {s.batch, 1, 1, 1}), b.getI64Type());
    restrict(b, mask.allowed, b.create<LessOp>(key, length));
  }
  if (Value given = op.getAttnMask()) {
    given = alignMask(b, given, s.keys);
    if (elementTypeOf(given).isInteger(1))
      restrict(b, mask.allowed, given);
    else
      mask.added = widen(b, given);
  }
  if (!mayBeIdle)
    return mask;
  Value bias = mask.added ? mask.added : scalar(b, 0);
  if (mask.allowed)
    bias = b.create<WhereOp>(mask.allowed, bias, scalar(b, -kInfinity));
  mask.idle = isEqual(b, maxOver(b, bias, 3), -kInfinity);
  return mask;
}

} // namespace

// Grouped heads fold into the rows of the product, since query heads that share
// keys are neighbours. Idle queries get finite scores, and zeros after the
// softmax: no NaN arises that a gradient could meet.
SmallVector<Value> AttentionOp::decompose(ImplicitLocOpBuilder &b) {
  AttentionShape s = attentionShape(*this);
  SmallVector<int64_t> scoreShape{s.batch, s.queryHeads, s.queries, s.keys};
  int64_t rows = s.queryHeads / s.keyHeads * s.queries;
  Value query = splitHeads(b, getQ(), s.queryHeads);
  Value key = behindPast(b, getPastKey(), splitHeads(b, getK(), s.keyHeads));
  Value value =
      behindPast(b, getPastValue(), splitHeads(b, getV(), s.keyHeads));
  if (s.scale != 1)
    query = times(b, query, s.scale);
  query = reshapeTo(b, query, {s.batch, s.keyHeads, rows, s.size});
  Value scores = reshapeTo(b, b.create<MatMulOp>(query, key, false, true),
                           scoreShape),
        shown = scores;
  if (double cap = getSoftcap().convertToFloat(); cap != 0)
    scores = times(
        b,
        b.create<TanhOp>(b.create<DivOp>(scores, scalarLike(b, scores, cap))),
        cap);
  if (getQkMatmulOutputMode() == 1)
    shown = scores;

  Mask mask = buildMask(*this, b, s);
  if (mask.added)
    scores = b.create<AddOp>(scores, mask.added);
  if (mask.allowed)
    scores = b.create<WhereOp>(mask.allowed, scores,
                               scalarLike(b, scores, -kInfinity));
  if (getQkMatmulOutputMode() == 2)
    shown = scores;
  if (mask.idle)
    scores = b.create<WhereOp>(mask.idle, scalarLike(b, scores, 0), scores);
  Value weights = b.create<SoftmaxOp>(scores, -1);
  if (mask.idle)
    weights = b.create<WhereOp>(mask.idle, scalarLike(b, weights, 0), weights);
  if (getQkMatmulOutputMode() == 3)
    shown = weights;

  weights = reshapeTo(b, weights, {s.batch, s.keyHeads, rows, s.keys});
  Value y = reshapeTo(b, b.create<MatMulOp>(weights, value, false, false),
                      {s.batch, s.queryHeads, s.queries, s.valueSize});
  return {s.flat ? joinHeads(b, y) : y, key, value, shown};
}

} // namespace halftone::graph
