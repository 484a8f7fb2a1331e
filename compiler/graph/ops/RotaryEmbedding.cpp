// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/ops/Composite.h"

using namespace mlir;

namespace halftone::graph {
namespace {

/// Extents of both forms. `pairs` features turn with their partner; those from
/// 2 pairs on stay.
struct RotaryShape {
  int64_t batch, heads, length, size, pairs;
  bool flat;
};

FailureOr<RotaryShape> rotaryShape(std::optional<Location> location,
                                   RotaryEmbeddingOp::Adaptor op) {
  ArrayRef<int64_t> x = shapeOf(op.getX()), cache = shapeOf(op.getCosCache());
  int64_t heads = x.size() == 4 ? x[1] : static_cast<int64_t>(op.getNumHeads());
  if ((x.size() != 3 && x.size() != 4) || heads < 1 ||
      (x.size() == 3 && x[2] % heads))
    return emitOptionalError(location,
                             "X needs rank 4, or rank 3 and a num_heads that "
                             "divides its last axis, got ",
                             op.getX().getType());
  RotaryShape s{x[0],
                heads,
                x.size() == 4 ? x[2] : x[1],
                x.size() == 4 ? x[3] : x[2] / heads,
                0,
                x.size() == 3};
  int64_t turning = op.getRotaryEmbeddingDim()
                        ? static_cast<int64_t>(op.getRotaryEmbeddingDim())
                        : s.size;
  s.pairs = turning / 2;
  if (turning < 2 || turning % 2 || turning > s.size)
    return emitOptionalError(location, turning, " features of ", s.size,
                             " cannot turn in pairs");
  bool fits = shapeOf(op.getSinCache()) == cache;
  if (Value ids = op.getPositionIds())
    fits = fits && shapeOf(ids) == ArrayRef<int64_t>{s.batch, s.length} &&
           cache.size() == 2 && cache[1] == s.pairs;
  else
    fits = fits && cache == ArrayRef<int64_t>{s.batch, s.length, s.pairs};
  if (!fits)
    return emitOptionalError(location, "caches ", op.getCosCache().getType(),
                             " and ", op.getSinCache().getType(),
                             " do not fit ", op.getX().getType(), " with ",
                             s.pairs, " pairs of features");
  return s;
}

RotaryShape rotaryShape(RotaryEmbeddingOp op) {
  return *rotaryShape(
      std::nullopt,
      RotaryEmbeddingOp::Adaptor(op->getOperands(), op->getAttrDictionary(),
                                 op.getProperties(), op->getRegions()));
}

/// The cached value of each position, with extent 1 in place of the heads of
/// `x`.
Value anglesOf(ImplicitLocOpBuilder &b, const RotaryShape &s, Value cache,
               Value ids) {
  if (ids)
    cache = b.create<GatherOp>(cache, ids, 0);
  if (s.flat)
    return reshapeTo(b, cache, {s.batch, s.length, 1, s.pairs});
  return reshapeTo(b, cache, {s.batch, 1, s.length, s.pairs});
}

} // namespace

LogicalResult RotaryEmbeddingOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  if (failed(rotaryShape(location, adaptor)))
    return failure();
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult
RotaryEmbeddingOp::evaluate(ArrayRef<HostTensor> operands,
                            SmallVectorImpl<HostTensor> &results) {
  RotaryShape s = rotaryShape(*this);
  HostTensor y = resultTensor(*this);
  y.floats = operands[0].floats;
  const HostTensor *ids = getPositionIds() ? &operands[3] : nullptr;
  SmallVector<int64_t> index(3, 0), extents{s.batch, s.heads, s.length};
  for (int64_t row = 0, n = numElements(extents); row < n;
       ++row, nextIndex(index, extents)) {
    int64_t position = index[0] * s.length + index[2];
    int64_t first = (s.flat ? position * s.heads + index[1] : row) * s.size;
    int64_t at = ids ? ids->ints[position] : position;
    if (at < 0 || (at + 1) * s.pairs > operands[1].size())
      return emitOpError("position ") << at << " lies outside the cache";
    for (int64_t i = 0; i < s.pairs; ++i) {
      double cos = operands[1].floats[at * s.pairs + i],
             sin = operands[2].floats[at * s.pairs + i];
      double &real = y.floats[first + (getInterleaved() ? 2 * i : i)];
      double &imaginary =
          y.floats[first + (getInterleaved() ? 2 * i + 1 : i + s.pairs)];
      std::tie(real, imaginary) = std::tuple(cos * real - sin * imaginary,
                                             sin * real + cos * imaginary);
    }
  }
  results.push_back(std::move(y));
  return success();
}

SmallVector<Value> RotaryEmbeddingOp::decompose(ImplicitLocOpBuilder &b) {
  RotaryShape s = rotaryShape(*this);
  SmallVector<int64_t> shape{s.batch, s.heads, s.length, s.size};
  if (s.flat)
    shape = {s.batch, s.length, s.heads, s.size};
  Value x = reshapeTo(b, getX(), shape);
  Value turning = 2 * s.pairs == s.size
                      ? x
                      : b.create<SliceOp>(x, 3, 0, 2 * s.pairs).getResult();
  Value cos = anglesOf(b, s, getCosCache(), getPositionIds()),
        sin = anglesOf(b, s, getSinCache(), getPositionIds());
  // Halves lie behind each other, or as the two columns of a last axis.
  SmallVector<int64_t> half(shape), columns(shape);
  half[3] = columns[3] = s.pairs;
  columns.push_back(2);
  auto part = [&](int64_t i) -> Value {
    if (!getInterleaved())
      return b.create<SliceOp>(turning, 3, i * s.pairs, (i + 1) * s.pairs);
    return reshapeTo(
        b, b.create<SliceOp>(reshapeTo(b, turning, columns), 4, i, i + 1),
        half);
  };
  Value real = part(0), imaginary = part(1);
  Value newReal = b.create<SubOp>(b.create<MulOp>(cos, real),
                                  b.create<MulOp>(sin, imaginary));
  Value newImaginary = b.create<AddOp>(b.create<MulOp>(sin, real),
                                       b.create<MulOp>(cos, imaginary));
  Value y;
  if (getInterleaved()) {
    columns.back() = 1;
    Value joined =
        b.create<ConcatOp>(ValueRange{reshapeTo(b, newReal, columns),
                                      reshapeTo(b, newImaginary, columns)},
                           4);
    y = reshapeTo(b, joined, shapeOf(turning));
  } else {
    y = b.create<ConcatOp>(ValueRange{newReal, newImaginary}, 3);
  }
  if (2 * s.pairs != s.size)
    y = b.create<ConcatOp>(
        ValueRange{y, b.create<SliceOp>(x, 3, 2 * s.pairs, s.size)}, 3);
  return {reshapeTo(b, y, shapeOf(getX()))};
}

} // namespace halftone::graph
