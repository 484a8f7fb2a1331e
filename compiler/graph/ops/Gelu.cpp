// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include <numbers>

using namespace mlir;

namespace halftone::graph {
namespace {

constexpr double kScale = 0.79788456080286535588; // sqrt(2 / pi)
constexpr double kCubic = 0.044715;
constexpr double kDensity = 0.39894228040143267794; // 1 / sqrt(2 pi)

} // namespace

LogicalResult GeluOp::verify() {
  if (getApproximate() != "none" && getApproximate() != "tanh")
    return emitOpError("approximate is '")
           << getApproximate() << "', must be none or tanh";
  return success();
}

LogicalResult GeluOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  bool viaTanh = getApproximate() == "tanh";
  return evaluateElementwise<1>(*this, operands, results, [&](double x) {
    if (viaTanh)
      return 0.5 * x * (1 + std::tanh(kScale * (x + kCubic * x * x * x)));
    return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
  });
}

Value GeluOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value half = b.mul(x[0], b.constant(0.5));
  Value s;
  if (getApproximate() == "tanh") {
    Value cubic = b.add(b.mul(b.mul(x[0], x[0]), b.constant(kScale * kCubic)),
                        b.constant(kScale));
    s = b.tanh(b.mul(x[0], cubic));
  } else {
    s = b.erf(b.mul(x[0], b.constant(1 / std::numbers::sqrt2)));
  }
  return b.add(half, b.mul(half, s));
}

SmallVector<Value> GeluOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  return {b.create<GeluGradOp>(grads[0], getX(), getApproximate())};
}

LogicalResult GeluGradOp::evaluate(ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  bool viaTanh = getApproximate() == "tanh";
  return evaluateElementwise<2>(
      *this, operands, results, [&](double dy, double x) {
        if (!viaTanh) {
          double density = std::exp(-0.5 * x * x) * kDensity;
          return dy * (0.5 * std::erfc(-x / std::numbers::sqrt2) + x * density);
        }
        double t = std::tanh(kScale * (x + kCubic * x * x * x));
        return dy * (0.5 * (1 + t) +
                     0.5 * x * (1 - t * t) * kScale * (1 + 3 * kCubic * x * x));
      });
}

Value GeluGradOp::emitScalar(ScalarBuilder &b, ValueRange operands) {
  Value dy = operands[0], x = operands[1], half = b.constant(0.5),
        square = b.mul(x, x);
  if (getApproximate() != "tanh") {
    Value density =
        b.mul(b.exp(b.mul(square, b.constant(-0.5))), b.constant(kDensity));
    Value below = b.add(
        half,
        b.mul(half, b.erf(b.mul(x, b.constant(1 / std::numbers::sqrt2)))));
    return b.mul(dy, b.add(below, b.mul(x, density)));
  }
  Value t = b.tanh(b.mul(x, b.add(b.mul(square, b.constant(kScale * kCubic)),
                                  b.constant(kScale))));
  Value inner = b.add(b.mul(square, b.constant(1.5 * kScale * kCubic)),
                      b.constant(0.5 * kScale));
  Value rest = b.sub(b.constant(1), b.mul(t, t));
  Value slope =
      b.add(b.add(half, b.mul(half, t)), b.mul(b.mul(x, rest), inner));
  return b.mul(dy, slope);
}

} // namespace halftone::graph
