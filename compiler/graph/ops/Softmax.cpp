// SPDX-License-Identifier: Apache-2.0
// Softmax and its logarithm.
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/ops/Composite.h"
#include <cmath>

using namespace mlir;

namespace halftone::graph {
namespace {

LogicalResult inferAlongAxis(std::optional<Location> location, Value x,
                             int64_t axis, SmallVectorImpl<Type> &types) {
  if (failed(normalizeAxis(axis, rankOf(x))))
    return emitOptionalError(location, "axis ", axis, " lies outside rank ",
                             rankOf(x));
  types.push_back(x.getType());
  return success();
}

/// Along one axis: x - max(x), and the sum of its exponentials.
std::pair<Value, Value> shiftedAndSum(ImplicitLocOpBuilder &b, Value x,
                                      int64_t axis) {
  x = widen(b, x);
  Value shifted = b.create<SubOp>(x, maxOver(b, x, axis));
  return {shifted, sumOver(b, b.create<ExpOp>(shifted), axis)};
}

/// max(x) and sum(exp(x - max)) of a row.
std::pair<double, double> maxAndSum(const double *row, int64_t extent,
                                    int64_t stride) {
  double max = row[0], sum = 0;
  for (int64_t i = 1; i < extent; ++i)
    max = std::isnan(max) || max > row[i * stride] ? max : row[i * stride];
  for (int64_t i = 0; i < extent; ++i)
    sum += std::exp(row[i * stride] - max);
  return {max, sum};
}

/// Maps each element of `x` and its row's max(x) and sum(exp(x - max)).
LogicalResult evaluateRows(Operation *op, const HostTensor &x, int64_t axis,
                           SmallVectorImpl<HostTensor> &results,
                           double (*fn)(double x, double max, double sum)) {
  HostTensor y = resultTensor(op);
  y.floats = x.floats;
  axis = *normalizeAxis(axis, y.getRank());
  int64_t extent = y.getShape()[axis],
          stride = rowMajorStrides(y.getShape())[axis];
  for (int64_t first = 0; first < y.size(); ++first) {
    if (first / stride % extent != 0)
      continue;
    double *row = y.floats.data() + first;
    auto [max, sum] = maxAndSum(row, extent, stride);
    for (int64_t i = 0; i < extent; ++i)
      row[i * stride] = fn(row[i * stride], max, sum);
  }
  results.push_back(std::move(y));
  return success();
}

} // namespace

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferAlongAxis(location, adaptor.getInput(), adaptor.getAxis(), types);
}

LogicalResult SoftmaxOp::evaluate(ArrayRef<HostTensor> operands,
                                  SmallVectorImpl<HostTensor> &results) {
  return evaluateRows(
      *this, operands[0], getAxis(), results,
      [](double x, double max, double sum) { return std::exp(x - max) / sum; });
}

// dx = (dy - sum(dy y)) y: only the output is read, so the input may be freed.
// A row without anything finite is NaN; exporters then put zeros in its place,
// and 0 times NaN must not come back from there, so that its y counts as 0.
SmallVector<Value> SoftmaxOp::buildVjp(ImplicitLocOpBuilder &b,
                                       ValueRange grads) {
  Value dy = grads[0];
  Value y = b.create<WhereOp>(b.create<IsNaNOp>(getOutput()),
                              scalarLike(b, getOutput(), 0), getOutput());
  Value sum =
      sumOver(b, b.create<MulOp>(dy, y), *normalizeAxis(getAxis(), rankOf(y)));
  return {b.create<MulOp>(b.create<SubOp>(dy, sum), y)};
}

SmallVector<Value> SoftmaxOp::decompose(ImplicitLocOpBuilder &b) {
  auto [shifted, sum] = shiftedAndSum(
      b, getInput(), *normalizeAxis(getAxis(), rankOf(getInput())));
  return {
      toTypeOf(b, b.create<DivOp>(b.create<ExpOp>(shifted), sum), getOutput())};
}

LogicalResult LogSoftmaxOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  return inferAlongAxis(location, adaptor.getInput(), adaptor.getAxis(), types);
}

LogicalResult LogSoftmaxOp::evaluate(ArrayRef<HostTensor> operands,
                                     SmallVectorImpl<HostTensor> &results) {
  return evaluateRows(*this, operands[0], getAxis(), results,
                      [](double x, double max, double sum) {
                        return x - (max + std::log(sum));
                      });
}

// dx = dy - exp(y) sum(dy).
SmallVector<Value> LogSoftmaxOp::buildVjp(ImplicitLocOpBuilder &b,
                                          ValueRange grads) {
  Value y = getOutput(), dy = grads[0];
  Value sum = sumOver(b, dy, *normalizeAxis(getAxis(), rankOf(y)));
  return {b.create<SubOp>(dy, b.create<MulOp>(b.create<ExpOp>(y), sum))};
}

SmallVector<Value> LogSoftmaxOp::decompose(ImplicitLocOpBuilder &b) {
  auto [shifted, sum] = shiftedAndSum(
      b, getInput(), *normalizeAxis(getAxis(), rankOf(getInput())));
  return {
      toTypeOf(b, b.create<SubOp>(shifted, b.create<LogOp>(sum)), getOutput())};
}

} // namespace halftone::graph
