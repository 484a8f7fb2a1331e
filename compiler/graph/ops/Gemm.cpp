// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult GemmOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> a = shapeOf(adaptor.getA()), b = shapeOf(adaptor.getB());
  if (a.size() != 2 || b.size() != 2)
    return emitOptionalError(location, "operands must be matrices, got ",
                             adaptor.getA().getType(), " and ",
                             adaptor.getB().getType());
  if (a[adaptor.getTransA() ? 0 : 1] != b[adaptor.getTransB() ? 1 : 0])
    return emitOptionalError(
        location, "shapes do not multiply: ", adaptor.getA().getType(), " and ",
        adaptor.getB().getType());
  SmallVector<int64_t> shape{a[adaptor.getTransA() ? 1 : 0],
                             b[adaptor.getTransB() ? 0 : 1]};
  if (Value c = adaptor.getC()) {
    auto joined = broadcastShapes(shape, shapeOf(c));
    if (failed(joined) || *joined != shape)
      return emitOptionalError(location, "C ", c.getType(),
                               " does not broadcast to [", shape, "]");
  }
  types.push_back(RankedTensorType::get(shape, elementTypeOf(adaptor.getA())));
  return success();
}

LogicalResult GemmOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  HostTensor y = resultTensor(*this);
  int64_t m = y.getShape()[0], n = y.getShape()[1],
          k = numElements(shapeOf(getA())) / std::max<int64_t>(1, m);
  double alpha = getAlpha().convertToFloat(), beta = getBeta().convertToFloat();
  const double *a = operands[0].floats.data(), *b = operands[1].floats.data();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += (getTransA() ? a[p * m + i] : a[i * k + p]) *
               (getTransB() ? b[j * k + p] : b[p * n + j]);
      double offset =
          operands.size() > 2
              ? operands[2]
                    .floats[broadcastOffset({i, j}, operands[2].getShape())]
              : 0;
      y.floats[i * n + j] = alpha * sum + beta * offset;
    }
  results.push_back(std::move(y));
  return success();
}

SmallVector<Value> GemmOp::decompose(ImplicitLocOpBuilder &b) {
  double alpha = getAlpha().convertToFloat(), beta = getBeta().convertToFloat();
  Value y =
      b.create<MatMulOp>(getA(), getB(), getTransA() != 0, getTransB() != 0);
  if (alpha != 1)
    y = b.create<MulOp>(y, scalarLike(b, y, alpha));
  if (Value c = getC(); c && beta != 0)
    y = b.create<AddOp>(
        y, beta == 1 ? c : b.create<MulOp>(c, scalarLike(b, c, beta)));
  return {y};
}

} // namespace halftone::graph
