// SPDX-License-Identifier: Apache-2.0
// Attention on the host, query by query, independent of its decomposition.
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/ops/AttentionShape.h"
#include <cmath>

using namespace mlir;

namespace halftone::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// An operand as [batch, heads, length, size], whichever form it has.
struct HeadReader {
  const HostTensor &tensor;
  int64_t heads;

  double at(int64_t batch, int64_t head, int64_t row, int64_t i) const {
    ArrayRef<int64_t> s = tensor.getShape();
    if (s.size() == 4)
      return tensor.floats[((batch * s[1] + head) * s[2] + row) * s[3] + i];
    return tensor
        .floats[(batch * s[1] + row) * s[2] + head * (s[2] / heads) + i];
  }
};

/// One attention op with its operands at hand.
struct Evaluation {
  AttentionOp op;
  AttentionShape shape;
  const HostTensor *mask = nullptr, *lengths = nullptr;
  HostTensor key, value; ///< Present keys and values.

  /// What the mask adds to a score: minus infinity excludes.
  double bias(int64_t batch, int64_t head, int64_t query, int64_t at) {
    int64_t place =
        query + (lengths ? lengths->ints[batch] - shape.queries : shape.past);
    int64_t left = op.getLeftWindowSize(), right = op.getRightWindowSize();
    if ((op.getIsCausal() && at > place) || (left >= 0 && at < place - left) ||
        (right >= 0 && at > place + right) ||
        (lengths && at >= lengths->ints[batch]))
      return -kInfinity;
    if (!mask)
      return 0;
    int64_t width = mask->getShape().back();
    if (width != 1 && at >= width)
      return -kInfinity;
    int64_t offset =
        broadcastOffset({batch, head, query, at}, mask->getShape());
    return mask->isFloat()      ? mask->floats[offset]
           : mask->ints[offset] ? 0
                                : -kInfinity;
  }
};

HostTensor present(HostTensor out, const HostTensor *past, const HostTensor &x,
                   int64_t heads) {
  ArrayRef<int64_t> s = out.getShape();
  HeadReader reader{x, heads};
  int64_t before = past ? past->getShape()[2] : 0;
  SmallVector<int64_t> index(4, 0);
  for (int64_t i = 0; i < out.size(); ++i, nextIndex(index, s)) {
    int64_t row = index[2];
    out.floats[i] =
        row < before
            ? past->floats[((index[0] * s[1] + index[1]) * before + row) *
                               s[3] +
                           index[3]]
            : reader.at(index[0], index[1], row - before, index[3]);
  }
  return out;
}

/// Scores to weights in place; all zero where no key is allowed.
void softmax(MutableArrayRef<double> scores, bool idle) {
  double max = -kInfinity, sum = 0;
  for (double score : scores)
    max = std::max(max, score);
  for (double &score : scores)
    sum += score = idle ? 0 : std::exp(score - max);
  for (double &score : scores)
    score = idle ? 0 : score / sum;
}

} // namespace

LogicalResult AttentionOp::evaluate(ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  AttentionShape s = attentionShape(*this);
  auto optional = [&](unsigned group) -> const HostTensor * {
    auto [start, length] = getODSOperandIndexAndLength(group);
    return length ? &operands[start] : nullptr;
  };
  Evaluation e{*this, s, optional(3), optional(6), {}, {}};
  e.key = present(resultTensor(*this, 1), optional(4), operands[1], s.keyHeads);
  e.value =
      present(resultTensor(*this, 2), optional(5), operands[2], s.keyHeads);
  HostTensor y = resultTensor(*this, 0), shown = resultTensor(*this, 3);
  HeadReader query{operands[0], s.queryHeads}, key{e.key, s.keyHeads},
      value{e.value, s.keyHeads};
  double cap = getSoftcap().convertToFloat();
  int64_t mode = getQkMatmulOutputMode(), shared = s.queryHeads / s.keyHeads;
  SmallVector<double> scores(s.keys);
  SmallVector<int64_t> index(3, 0), extents{s.batch, s.queryHeads, s.queries};
  for (int64_t row = 0, n = numElements(extents); row < n;
       ++row, nextIndex(index, extents)) {
    auto [b, h, q] = std::tuple(index[0], index[1], index[2]);
    double most = -kInfinity;
    for (int64_t k = 0; k < s.keys; ++k) {
      double dot = 0, bias = e.bias(b, h, q, k);
      for (int64_t i = 0; i < s.size; ++i)
        dot += query.at(b, h, q, i) * key.at(b, h / shared, k, i);
      double score = dot * s.scale,
             capped = cap != 0 ? cap * std::tanh(score / cap) : score;
      scores[k] = capped + bias;
      most = std::max(most, bias);
      shown.floats[row * s.keys + k] = mode == 0   ? score
                                       : mode == 1 ? capped
                                                   : scores[k];
    }
    softmax(scores, most == -kInfinity);
    for (int64_t k = 0; mode == 3 && k < s.keys; ++k)
      shown.floats[row * s.keys + k] = scores[k];
    for (int64_t i = 0; i < s.valueSize; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < s.keys; ++k)
        sum += scores[k] * value.at(b, h / shared, k, i);
      y.floats[s.flat
                   ? ((b * s.queries + q) * s.queryHeads + h) * s.valueSize + i
                   : row * s.valueSize + i] = sum;
    }
  }
  results.append(
      {std::move(y), std::move(e.key), std::move(e.value), std::move(shown)});
  return success();
}

} // namespace halftone::graph
