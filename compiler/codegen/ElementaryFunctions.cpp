// SPDX-License-Identifier: Apache-2.0
// The polynomials are our own fits (least maximum relative error over the
// reduced range, by iterated weighted least squares in double); each array says
// what it approximates. Reductions follow Cody and Waite. Integers come from
// floats by adding a large number, because a conversion of NaN would be
// undefined.
#include "compiler/codegen/ElementaryFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <numbers>

using namespace mlir;

namespace halftone::codegen {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(),
                 kNaN = std::numeric_limits<double>::quiet_NaN();

// (exp(r) - 1 - r) / r^2, |r| <= log(2)/2; 3e-9.
constexpr double kExp[] = {0.49999993412481186, 0.16666520107742341,
                           0.041668394215116554, 0.0083687804183223084,
                           0.0013814466849314381};
// (log(1+f) - f + f^2/2) / f^3, sqrt(1/2) <= 1+f < sqrt(2); 8e-10.
constexpr double kLog[] = {
    0.33333311966749229,  -0.25000008711553118, 0.20002167062117404,
    -0.16668090350409454, 0.14218554406411685,  -0.12403083831835643,
    0.11893512515092304,  -0.11694334883482212, 0.067575700603412572};
// (sin(r) - r) / r^3 and (cos(r) - 1 + r^2/2) / r^4 in r^2, |r| <= pi/4; 5e-12,
// 1e-13.
constexpr double kSin[] = {-0.16666666641426547, 0.0083333293622826488,
                           -0.00019839327137126099, 2.7182372810792049e-06};
constexpr double kCos[] = {0.041666666622476312, -0.0013888883722555584,
                           2.4799511746603624e-05, -2.7209546432773517e-07};
// (erf(a) - a) / a in a^2, |a| <= 0.92; 4e-10.
constexpr double kErfSmall[] = {0.12837916665018914,   -0.37612633855417044,
                                0.11283697335977713,   -0.026859500540866756,
                                0.0052012869274707628, -0.00081456054427247071,
                                8.3824190242675416e-05};
// (-log(erfc(t)) - t) / t, 0.9 <= t <= 4.1; 9e-10 of erf.
constexpr double kErfLarge[] = {0.12863707297942301,   0.6351980437096455,
                                0.10615903255104238,   -0.023694550776274758,
                                0.0036103343319131755, -0.00031485613024830945,
                                1.0432905645316225e-05};
// (atanh(s)/s - 1) / s^2 in s^2, |s| <= (sqrt(2)-1)/(sqrt(2)+1); 4e-16.
constexpr double kAtanh[] = {0.33333333333274046,  0.20000000033605381,
                             0.14285707551622134,  0.11111748479312157,
                             0.090600163509359982, 0.084296144398731704};
// (2^f - 1) / f, |f| <= 1/2; 8e-13.
constexpr double kExp2[] = {0.69314718054604019,    0.24022650695551601,
                            0.055504109411504701,   0.0096181292200741286,
                            0.0013333450474758157,  0.00015403415021565114,
                            1.5310125350315391e-05, 1.3263593128088658e-06};

} // namespace

Value ElementaryFunctions::constant(Value like, double value) {
  return b.create<arith::ConstantOp>(b.getFloatAttr(like.getType(), value));
}
Value ElementaryFunctions::integer(Value like, int64_t value) {
  return b.create<arith::ConstantOp>(b.getIntegerAttr(like.getType(), value));
}
Value ElementaryFunctions::add(Value x, Value y) {
  return b.create<arith::AddFOp>(x, y);
}
Value ElementaryFunctions::sub(Value x, Value y) {
  return b.create<arith::SubFOp>(x, y);
}
Value ElementaryFunctions::mul(Value x, Value y) {
  return b.create<arith::MulFOp>(x, y);
}
Value ElementaryFunctions::fma(Value x, Value y, Value z) {
  return b.create<math::FmaOp>(x, y, z);
}
Value ElementaryFunctions::abs(Value x) { return b.create<math::AbsFOp>(x); }
Value ElementaryFunctions::bits(Value x) {
  return b.create<arith::BitcastOp>(
      b.getIntegerType(x.getType().getIntOrFloatBitWidth()), x);
}
Value ElementaryFunctions::fromBits(Value x) {
  return b.create<arith::BitcastOp>(
      x.getType().isInteger(64) ? Type(b.getF64Type()) : Type(b.getF32Type()),
      x);
}
Value ElementaryFunctions::select(Value condition, Value x, Value y) {
  return b.create<arith::SelectOp>(condition, x, y);
}
Value ElementaryFunctions::less(Value x, Value y) {
  return b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, y);
}
Value ElementaryFunctions::equal(Value x, Value y) {
  return b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, y);
}
Value ElementaryFunctions::widen(Value x) {
  return b.create<arith::ExtFOp>(b.getF64Type(), x);
}
Value ElementaryFunctions::narrow(Value x) {
  return b.create<arith::TruncFOp>(b.getF32Type(), x);
}

Value ElementaryFunctions::clamp(Value x, double low, double high) {
  Value l = constant(x, low), h = constant(x, high);
  x = select(less(x, l), l, x);
  return select(less(h, x), h, x);
}

Value ElementaryFunctions::polynomial(Value x, ArrayRef<double> ascending) {
  Value sum = constant(x, ascending.back());
  for (double c : llvm::reverse(ascending.drop_back()))
    sum = fma(sum, x, constant(x, c));
  return sum;
}

std::pair<Value, Value> ElementaryFunctions::nearest(Value x, double scale) {
  Value magic = constant(x, x.getType().isF64() ? 0x1.8p52 : 0x1.8p23);
  Value shifted = fma(x, constant(x, scale), magic);
  Value integer = b.create<arith::SubIOp>(bits(shifted), bits(magic));
  return {sub(shifted, magic), integer};
}

std::pair<Value, Value> ElementaryFunctions::reducedExpm1(Value x) {
  auto [n, integer] = nearest(x, std::numbers::log2e);
  Value r = fma(n, constant(x, -0.693359375), x);
  r = fma(n, constant(x, 2.12194440054690583e-4), r);
  return {integer, fma(mul(r, r), polynomial(r, kExp), r)};
}

Value ElementaryFunctions::exp2OfInteger(Value n) {
  bool isLong = n.getType().isInteger(64);
  Value biased = b.create<arith::AddIOp>(n, integer(n, isLong ? 1023 : 127));
  return fromBits(
      b.create<arith::ShLIOp>(biased, integer(n, isLong ? 52 : 23)));
}

Value ElementaryFunctions::exp(Value x) {
  auto [n, p] = reducedExpm1(clamp(x, -104, 89));
  // Two factors, so that neither over- nor underflows before the result does.
  Value half = b.create<arith::ShRSIOp>(n, integer(n, 1));
  Value y = mul(add(p, constant(p, 1)), exp2OfInteger(half));
  return mul(y, exp2OfInteger(b.create<arith::SubIOp>(n, half)));
}

Value ElementaryFunctions::expm1(Value x) {
  auto [n, p] = reducedExpm1(clamp(x, -30, 89));
  // With half the power of two, the largest results do not overflow early.
  Value power = exp2OfInteger(b.create<arith::SubIOp>(n, integer(n, 1)));
  Value half = fma(power, p, sub(power, constant(p, 0.5)));
  Value y = add(half, half);
  return select(equal(x, constant(x, 0)), x, y);
}

Value ElementaryFunctions::log(Value x) {
  Value isSmall = less(x, constant(x, 0x1p-126));
  Value scaled = select(isSmall, mul(x, constant(x, 0x1p23)), x);
  Value i = bits(scaled);
  Value e = b.create<arith::ShRSIOp>(
      b.create<arith::SubIOp>(i, integer(i, 0x3f3504f3)), integer(i, 23));
  Value mantissa = fromBits(
      b.create<arith::SubIOp>(i, b.create<arith::ShLIOp>(e, integer(e, 23))));
  e = b.create<arith::SubIOp>(e,
                              select(isSmall, integer(e, 23), integer(e, 0)));
  Value n = b.create<arith::SIToFPOp>(x.getType(), e);
  Value f = sub(mantissa, constant(x, 1)), z = mul(f, f);
  Value y = mul(mul(f, z), polynomial(f, kLog));
  y = fma(n, constant(x, -2.12194440054690583e-4), y);
  y = fma(z, constant(x, -0.5), y);
  y = fma(n, constant(x, 0.693359375), add(f, y));
  y = select(equal(x, constant(x, kInf)), x, y);
  y = select(equal(x, constant(x, 0)), constant(x, -kInf), y);
  Value valid =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, constant(x, 0));
  return select(valid, y, constant(x, kNaN));
}

// log(u) + (x - (u - 1)) / u with u = 1 + x rounded: the second term is what
// the rounding lost.
Value ElementaryFunctions::log1p(Value x) {
  Value one = constant(x, 1), u = add(x, one);
  Value lost = b.create<arith::DivFOp>(sub(x, sub(u, one)), u);
  Value y = log(u);
  Value ordinary = b.create<arith::AndIOp>(less(constant(x, 0), u),
                                           less(u, constant(x, kInf)));
  y = select(ordinary, add(y, lost), y);
  return select(equal(x, constant(x, 0)), x, y);
}

Value ElementaryFunctions::tanh(Value x) {
  Value a = clamp(abs(x), 0, 10);
  Value e = expm1(add(a, a));
  return b.create<math::CopySignOp>(
      b.create<arith::DivFOp>(e, add(e, constant(e, 2))), x);
}

Value ElementaryFunctions::erf(Value x) {
  Value t = abs(x), s = mul(x, x);
  Value small = fma(x, polynomial(s, kErfSmall), x);
  Value near = clamp(t, 0, 4);
  Value decay = exp(
      b.create<arith::NegFOp>(fma(near, polynomial(near, kErfLarge), near)));
  Value large = b.create<math::CopySignOp>(sub(constant(x, 1), decay), x);
  return select(less(t, constant(x, 0.92)), small, large);
}

Value ElementaryFunctions::sinOrCos(Value x, bool isCos) {
  Value wide = widen(x);
  auto [n, quadrant] = nearest(wide, 2 / std::numbers::pi);
  Value r = fma(n, constant(wide, -0x1.921fb54442d18p+0), wide);
  r = fma(n, constant(wide, -0x1.1a62633145c07p-54), r);
  Value z = mul(r, r);
  Value sine = fma(mul(r, z), polynomial(z, kSin), r);
  Value cosine = fma(mul(z, z), polynomial(z, kCos),
                     fma(z, constant(z, -0.5), constant(z, 1)));
  if (isCos)
    quadrant = b.create<arith::AddIOp>(quadrant, integer(quadrant, 1));
  auto has = [&](int64_t bit) -> Value {
    return b.create<arith::CmpIOp>(
        arith::CmpIPredicate::ne,
        b.create<arith::AndIOp>(quadrant, integer(quadrant, bit)),
        integer(quadrant, 0));
  };
  Value y = select(has(1), cosine, sine);
  y = narrow(select(has(2), b.create<arith::NegFOp>(y), y));
  return isCos ? y : select(equal(x, constant(x, 0)), x, y);
}

Value ElementaryFunctions::sin(Value x) { return sinOrCos(x, false); }
Value ElementaryFunctions::cos(Value x) { return sinOrCos(x, true); }

Value ElementaryFunctions::powByConstant(Value x, double y) {
  Value one = constant(x, 1);
  if (y == 0)
    return one;
  if (y == 1)
    return x;
  if (y == 2)
    return mul(x, x);
  if (y == 3)
    return mul(mul(x, x), x);
  if (y == -1)
    return b.create<arith::DivFOp>(one, x);
  if (y == -2)
    return b.create<arith::DivFOp>(one, mul(x, x));
  // pow(-0, 1/2) is +0 and pow(-inf, 1/2) is inf, where sqrt gives -0 and NaN.
  if (y == 0.5)
    return select(equal(x, constant(x, -kInf)), constant(x, kInf),
                  b.create<math::SqrtOp>(add(x, constant(x, 0))));
  return {};
}

// 2^(y log2 x) in double; x > 0 and finite.
Value ElementaryFunctions::powOfPositive(Value x, Value y) {
  Value i = bits(widen(x));
  Value e = b.create<arith::ShRSIOp>(
      b.create<arith::SubIOp>(i, integer(i, 0x3fe6a09e667f3bcd)),
      integer(i, 52));
  Value m = fromBits(
      b.create<arith::SubIOp>(i, b.create<arith::ShLIOp>(e, integer(e, 52))));
  Value s = b.create<arith::DivFOp>(sub(m, constant(m, 1)),
                                    add(m, constant(m, 1))),
        z = mul(s, s);
  Value series = fma(z, polynomial(z, kAtanh), constant(z, 1));
  Value n = b.create<arith::SIToFPOp>(m.getType(), e);
  Value log2 = fma(mul(s, constant(s, 2 * std::numbers::log2e)), series, n);
  Value power = clamp(mul(widen(y), log2), -200, 200);
  auto [whole, exponent] = nearest(power, 1);
  Value f = sub(power, whole);
  return narrow(mul(fma(f, polynomial(f, kExp2), constant(f, 1)),
                    exp2OfInteger(exponent)));
}

Value ElementaryFunctions::pow(Value x, Value y) {
  FloatAttr known;
  if (matchPattern(y, m_Constant(&known)))
    if (Value special = powByConstant(x, known.getValueAsDouble()))
      return special;
  Value a = abs(x), zero = constant(x, 0), one = constant(x, 1),
        inf = constant(x, kInf), nan = constant(x, kNaN);
  Value r = powOfPositive(a, y);
  Value falls = less(y, zero);
  r = select(equal(a, zero), select(falls, inf, zero), r);
  r = select(equal(a, inf), select(falls, zero, inf), r);
  r = select(equal(a, one), one, r);
  // The sign of a negative base (of -0 and -inf too) and NaN for its roots.
  Value half = mul(y, constant(y, 0.5));
  Value isInteger = equal(b.create<math::FloorOp>(y), y);
  Value isEven = equal(b.create<math::FloorOp>(half), half);
  Value negative = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, bits(x),
                                           integer(bits(x), 0));
  Value odd = b.create<arith::AndIOp>(
      isInteger, b.create<arith::XOrIOp>(isEven, integer(isEven, 1)));
  r = select(b.create<arith::AndIOp>(negative, odd), b.create<arith::NegFOp>(r),
             r);
  Value root = b.create<arith::XOrIOp>(isInteger, integer(isInteger, 1));
  Value finiteNegative =
      b.create<arith::AndIOp>(less(x, zero), less(constant(x, -kInf), x));
  r = select(b.create<arith::AndIOp>(finiteNegative, root), nan, r);
  Value unordered = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, y);
  r = select(unordered, select(equal(x, one), one, nan), r);
  return select(equal(y, zero), one, r);
}

Value ElementaryFunctions::remainder(Value x, Value y) {
  Value wideX = widen(x), wideY = widen(y);
  Value n = b.create<math::TruncOp>(b.create<arith::DivFOp>(wideX, wideY));
  Value r = fma(b.create<arith::NegFOp>(n), wideY, wideX);
  // The quotient may have rounded up to an integer: then r has the wrong sign,
  // or is a whole |y|.
  Value step = b.create<math::CopySignOp>(abs(wideY), wideX),
        zero = constant(r, 0);
  r = select(
      less(mul(r, b.create<math::CopySignOp>(constant(r, 1), wideX)), zero),
      add(r, step), r);
  r = select(less(abs(r), abs(wideY)), r, sub(r, step));
  r = b.create<math::CopySignOp>(r, wideX);
  Value infinite = b.create<arith::AndIOp>(equal(abs(y), constant(y, kInf)),
                                           less(abs(x), constant(x, kInf)));
  return select(infinite, x, narrow(r));
}

} // namespace halftone::codegen
