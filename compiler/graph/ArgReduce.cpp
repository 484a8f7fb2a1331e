// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/ArgReduce.h"
#include "compiler/graph/BroadcastShape.h"
#include "compiler/graph/Evaluate.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult inferArgReduction(std::optional<Location> location, Value data,
                                int64_t axis, bool keepdims,
                                SmallVectorImpl<Type> &types) {
  auto normal = normalizeAxis(axis, rankOf(data));
  if (failed(normal) || shapeOf(data)[*normal] == 0)
    return emitOptionalError(location, "axis ", axis,
                             " lies outside or is empty in ", data.getType());
  SmallVector<int64_t> shape(shapeOf(data));
  if (keepdims)
    shape[*normal] = 1;
  else
    shape.erase(shape.begin() + *normal);
  types.push_back(
      RankedTensorType::get(shape, IntegerType::get(data.getContext(), 64)));
  return success();
}

LogicalResult evaluateArgReduction(Operation *op, const HostTensor &data,
                                   int64_t axis,
                                   SmallVectorImpl<HostTensor> &results,
                                   function_ref<bool(double, double)> beats) {
  HostTensor out = resultTensor(op);
  int64_t d = *normalizeAxis(axis, data.getRank());
  int64_t extent = data.getShape()[d];
  int64_t stride = rowMajorStrides(data.getShape())[d];
  for (int64_t i = 0; i < out.size(); ++i) {
    int64_t first = i / stride * stride * extent + i % stride, best = 0;
    for (int64_t j = 1; j < extent; ++j)
      if (beats(data.asDouble(first + j * stride),
                data.asDouble(first + best * stride)))
        best = j;
    out.ints[i] = best;
  }
  results.push_back(std::move(out));
  return success();
}

Value emitArgReduction(ElementBuilder &b, Value data, int64_t axis,
                       bool keepdims, ValueRange index, Compare beats) {
  int64_t d = *normalizeAxis(axis, rankOf(data));
  SmallVector<Value> source(index);
  if (!keepdims)
    source.insert(source.begin() + d, Value());
  auto at = [&](Value place) {
    source[d] = place;
    return b.load(0, source);
  };
  Value best = b.loop({shapeOf(data)[d]}, b.constantIndex(0),
                      [&](ValueRange j, Value best) {
                        Value wins = b.compare(beats, at(j[0]), at(best));
                        return b.select(wins, j[0], best);
                      });
  return b.convert(best, b.b.getI64Type());
}

} // namespace halftone::graph
