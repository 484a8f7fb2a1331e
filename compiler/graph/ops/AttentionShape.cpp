// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/ops/AttentionShape.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/ops/Composite.h"
#include <cmath>

using namespace mlir;

namespace halftone::graph {
namespace {

/// [batch, heads, length, size] of a 4-D or 3-D operand.
FailureOr<std::array<int64_t, 4>> headsOf(Value v,
                                          std::optional<int64_t> heads) {
  ArrayRef<int64_t> s = shapeOf(v);
  if (s.size() == 4)
    return std::array<int64_t, 4>{s[0], s[1], s[2], s[3]};
  if (s.size() != 3 || !heads || *heads < 1 || s[2] % *heads)
    return failure();
  return std::array<int64_t, 4>{s[0], *heads, s[1], s[2] / *heads};
}

bool broadcastsTo(ArrayRef<int64_t> shape, ArrayRef<int64_t> target) {
  auto joined = broadcastShapes(shape, target);
  return succeeded(joined) && ArrayRef<int64_t>(*joined) == target;
}

LogicalResult checkMask(std::optional<Location> location, Value mask,
                        const AttentionShape &s) {
  if (!mask)
    return success();
  SmallVector<int64_t> shape(shapeOf(mask));
  if (shape.empty() || shape.size() > 4 ||
      !(isa<FloatType>(elementTypeOf(mask)) ||
        elementTypeOf(mask).isInteger(1)))
    return emitOptionalError(
        location, "attn_mask must be bool or float of rank 1 to 4, got ",
        mask.getType());
  // A mask that is too short excludes the keys behind it.
  if (shape.back() != 1 && shape.back() < s.keys)
    shape.back() = s.keys;
  if (!broadcastsTo(shape, {s.batch, s.queryHeads, s.queries, s.keys}))
    return emitOptionalError(location, "attn_mask ", mask.getType(),
                             " does not broadcast to [", s.batch, ", ",
                             s.queryHeads, ", ", s.queries, ", ", s.keys, "]");
  return success();
}

} // namespace

FailureOr<AttentionShape> attentionShape(std::optional<Location> location,
                                         AttentionOp::Adaptor op) {
  auto q = headsOf(op.getQ(), op.getQNumHeads()),
       k = headsOf(op.getK(), op.getKvNumHeads()),
       v = headsOf(op.getV(), op.getKvNumHeads());
  auto refuse = [&](const Twine &why) -> FailureOr<AttentionShape> {
    return emitOptionalError(location, why.str(), ": Q ", op.getQ().getType(),
                             ", K ", op.getK().getType(), ", V ",
                             op.getV().getType());
  };
  if (failed(q) || failed(k) || failed(v))
    return refuse("operands need rank 4, or rank 3 and head counts that divide "
                  "the last axis");
  auto [batch, queryHeads, queries, size] = *q;
  auto [batchK, keyHeads, keys, sizeK] = *k;
  auto [batchV, valueHeads, values, valueSize] = *v;
  if (batch != batchK || batch != batchV || size != sizeK ||
      keyHeads != valueHeads || keys != values || queryHeads % keyHeads)
    return refuse("batch, heads, lengths or sizes do not fit");
  AttentionShape s{batch,   queryHeads, keyHeads,
                   queries, 0,          keys,
                   size,    valueSize,  rankOf(op.getQ()) == 3,
                   0};
  Value pastKey = op.getPastKey(), pastValue = op.getPastValue();
  if (static_cast<bool>(pastKey) != static_cast<bool>(pastValue))
    return refuse("past_key and past_value come together");
  if (pastKey) {
    s.past = rankOf(pastKey) == 4 ? shapeOf(pastKey)[2] : 0;
    if (shapeOf(pastKey) != ArrayRef<int64_t>{batch, keyHeads, s.past, size} ||
        shapeOf(pastValue) !=
            ArrayRef<int64_t>{batch, keyHeads, s.past, valueSize})
      return refuse("past_key and past_value do not fit");
    s.keys += s.past;
  }
  if (Value lengths = op.getNonpadKvSeqlen();
      lengths && (shapeOf(lengths) != ArrayRef<int64_t>{batch} || pastKey))
    return refuse(
        "nonpad_kv_seqlen needs one length a batch row and no past_key");
  if (failed(checkMask(location, op.getAttnMask(), s)))
    return failure();
  auto scale = op.getScale();
  s.scale =
      static_cast<float>(scale ? scale->convertToFloat()
                               : 1 / std::sqrt(static_cast<double>(size)));
  return s;
}

AttentionShape attentionShape(AttentionOp op) {
  return *attentionShape(
      std::nullopt,
      AttentionOp::Adaptor(op->getOperands(), op->getAttrDictionary(),
                           op.getProperties(), op->getRegions()));
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  for (unsigned i = 0; i < 3; ++i)
    if (adaptor.getODSOperands(i).size() != 1)
      return emitOptionalError(location, "needs Q, K and V");
  auto s = attentionShape(location, adaptor);
  if (failed(s))
    return failure();
  Type element = elementTypeOf(adaptor.getQ());
  if (s->flat)
    types.push_back(RankedTensorType::get(
        {s->batch, s->queries, s->queryHeads * s->valueSize}, element));
  else
    types.push_back(RankedTensorType::get(
        {s->batch, s->queryHeads, s->queries, s->valueSize}, element));
  types.push_back(
      RankedTensorType::get({s->batch, s->keyHeads, s->keys, s->size},
                            elementTypeOf(adaptor.getK())));
  types.push_back(
      RankedTensorType::get({s->batch, s->keyHeads, s->keys, s->valueSize},
                            elementTypeOf(adaptor.getV())));
  types.push_back(RankedTensorType::get(
      {s->batch, s->queryHeads, s->queries, s->keys}, element));
  return success();
}

} // namespace halftone::graph
