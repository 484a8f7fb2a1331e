// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/TensorMath.h"

using namespace mlir;

namespace halftone::graph {
namespace {

int64_t integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  // Wraps around like the machine's product; unsigned, because that is defined.
  uint64_t result = 1;
  for (uint64_t b = static_cast<uint64_t>(base); exponent;
       exponent /= 2, b *= b)
    if (exponent % 2)
      result *= b;
  return static_cast<int64_t>(result);
}

/// A power with a constant exponent as products and roots; null where it is
/// none of the simple ones.
Value emitKnownPower(ScalarBuilder &b, Value x, double exponent) {
  if (exponent == 0)
    return b.constant(1);
  if (exponent == 0.5)
    return b.sqrt(x);
  if (exponent == -0.5)
    return b.rsqrt(x);
  double whole = std::abs(exponent);
  if (whole != 1 && whole != 2 && whole != 3 && whole != 4)
    return {};
  Value power = x;
  if (whole == 3)
    power = b.mul(b.mul(x, x), x);
  else if (whole >= 2)
    power = b.mul(x, x);
  if (whole == 4)
    power = b.mul(power, power);
  return exponent < 0 ? b.div(b.constant(1), power) : power;
}

} // namespace

LogicalResult PowOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  if (operands[0].isFloat() || operands[1].isFloat())
    return evaluateElementwise<2>(
        *this, operands, results,
        [](double a, double b) { return std::pow(a, b); });
  return evaluateElementwise<2>(
      *this, operands, results,
      [](int64_t a, int64_t b) { return integerPower(a, b); });
}

Value PowOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value base = b.convert(x[0], b.b.getF32Type());
  std::optional<double> exponent = splatValue(getB());
  Value power = exponent ? emitKnownPower(b, base, *exponent) : Value();
  if (!power)
    power = b.pow(base, b.convert(x[1], b.b.getF32Type()));
  return b.convert(power, x[0].getType());
}

// da = dy b a^(b-1), 0 where b = 0; db = dy y log(a), 0 where a <= 0.
SmallVector<Value> PowOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  if (!isa<FloatType>(elementTypeOf(getC())))
    return {Value(), Value()};
  Value dy = grads[0], a = getA(), exponent = getB();
  bool floatExponent = isa<FloatType>(elementTypeOf(exponent));
  if (!floatExponent)
    exponent = b.create<CastOp>(exponent, elementTypeOf(a));
  Value da;
  if (std::optional<double> known = splatValue(getB())) {
    Value slope =
        *known == 2.0
            ? a
            : b.create<PowOp>(a, scalarLike(b, a, *known - 1)).getResult();
    if (*known != 0.0)
      da = b.create<MulOp>(dy, times(b, slope, *known));
    return {da, Value()};
  }
  // Where b = 0 the power below is a^0, so that no 0 * inf arises.
  Value isZero = isEqual(b, exponent, 0);
  Value lowered =
      b.create<WhereOp>(isZero, scalarLike(b, a, 0), plus(b, exponent, -1));
  da = b.create<MulOp>(dy,
                       b.create<MulOp>(exponent, b.create<PowOp>(a, lowered)));
  if (!floatExponent)
    return {da, Value()};
  Value positive = isGreater(b, a, 0);
  Value logarithm =
      b.create<LogOp>(b.create<WhereOp>(positive, a, scalarLike(b, a, 1)));
  return {da, b.create<MulOp>(b.create<MulOp>(dy, getC()), logarithm)};
}

OpFoldResult PowOp::fold(FoldAdaptor adaptor) {
  if (splatValue(adaptor.getB()) == 1.0 && getA().getType() == getType())
    return getA();
  return {};
}

} // namespace halftone::graph
