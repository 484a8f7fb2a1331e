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

// (1 + tanh(u)) / 2 is 1 / (1 + exp(-2 u)), which loses no digits on the
// negative side; an exponential that overflows gives the right 0.
Value GeluOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value one = b.constant(1);
  if (getApproximate() == "tanh") {
    Value factor =
        b.add(b.mul(b.mul(x[0], x[0]), b.constant(-2 * kScale * kCubic)),
              b.constant(-2 * kScale));
    return b.div(x[0], b.add(one, b.exp(b.mul(x[0], factor))));
  }
  Value s = b.erf(b.mul(x[0], b.constant(1 / std::numbers::sqrt2)));
  return b.mul(b.mul(x[0], b.constant(0.5)), b.add(one, s));
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

// The tanh form with e = exp(-|2 u|) and r = 1 / (1 + e): the distribution
// function is r or e r by the sign of x, its slope e r^2 2 u', without
// cancellation.
Value GeluGradOp::emitScalar(ScalarBuilder &b, ValueRange operands) {
  Value dy = operands[0], x = operands[1], half = b.constant(0.5),
        square = b.mul(x, x);
  if (getApproximate() != "tanh") {
    Value density =
        b.mul(b.exp(b.mul(square, b.constant(-0.5))), b.constant(kDensity));
    Value below = b.mul(
        half, b.add(b.constant(1),
                    b.erf(b.mul(x, b.constant(1 / std::numbers::sqrt2)))));
    return b.mul(dy, b.add(below, b.mul(x, density)));
  }
  Value one = b.constant(1);
  Value factor = b.add(b.mul(square, b.constant(2 * kScale * kCubic)),
                       b.constant(2 * kScale));
  Value e = b.exp(b.neg(b.abs(b.mul(x, factor)))),
        r = b.div(one, b.add(one, e));
  Value er = b.mul(e, r);
  Value below =
      b.select(b.compare(Compare::GreaterOrEqual, x, b.constant(0)), r, er);
  Value inner = b.add(b.mul(square, b.constant(6 * kScale * kCubic)),
                      b.constant(2 * kScale));
  Value slope = b.add(below, b.mul(b.mul(x, inner), b.mul(er, r)));
  return b.mul(dy, slope);
}

} // namespace halftone::graph
