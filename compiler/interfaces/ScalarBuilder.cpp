// SPDX-License-Identifier: Apache-2.0
// Every operation names its arith or math op once; float reductions and fused
// multiply-adds are left to the target's pipeline.
#include "compiler/interfaces/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone {
namespace {

bool isFloat(Value v) { return isa<FloatType>(v.getType()); }
bool isUnsigned(Value v) {
  return v.getType().isIndex() || v.getType().isInteger(1);
}

// Contraction to fused multiply-add only ever removes a rounding.
constexpr auto kFlags = arith::FastMathFlags::contract;

template <typename FloatOp, typename IntOp>
Value binary(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (isFloat(x))
    return b.create<FloatOp>(x, y, kFlags);
  return b.create<IntOp>(x, y);
}

} // namespace

Value ScalarBuilder::constant(double value) {
  return b.create<arith::ConstantOp>(
      b.getF32FloatAttr(static_cast<float>(value)));
}
Value ScalarBuilder::constantInt(int64_t value, Type type) {
  return b.create<arith::ConstantOp>(b.getIntegerAttr(type, value));
}
Value ScalarBuilder::constantIndex(int64_t value) {
  return b.create<arith::ConstantIndexOp>(value);
}
Value ScalarBuilder::constantLike(Value like, double value) {
  return isFloat(like)
             ? constant(value)
             : constantInt(static_cast<int64_t>(value), like.getType());
}

Value ScalarBuilder::add(Value x, Value y) {
  return binary<arith::AddFOp, arith::AddIOp>(b, x, y);
}
Value ScalarBuilder::sub(Value x, Value y) {
  return binary<arith::SubFOp, arith::SubIOp>(b, x, y);
}
Value ScalarBuilder::mul(Value x, Value y) {
  return binary<arith::MulFOp, arith::MulIOp>(b, x, y);
}
Value ScalarBuilder::div(Value x, Value y) {
  return isUnsigned(x) ? b.create<arith::DivUIOp>(x, y).getResult()
                       : binary<arith::DivFOp, arith::DivSIOp>(b, x, y);
}
Value ScalarBuilder::rem(Value x, Value y) {
  return isUnsigned(x) ? b.create<arith::RemUIOp>(x, y).getResult()
                       : binary<arith::RemFOp, arith::RemSIOp>(b, x, y);
}
Value ScalarBuilder::neg(Value x) {
  if (isFloat(x))
    return b.create<arith::NegFOp>(x);
  return sub(constantLike(x, 0), x);
}
Value ScalarBuilder::abs(Value x) {
  if (isFloat(x))
    return b.create<math::AbsFOp>(x);
  return b.create<math::AbsIOp>(x);
}
Value ScalarBuilder::maximum(Value x, Value y) {
  return isUnsigned(x) ? b.create<arith::MaxUIOp>(x, y).getResult()
                       : binary<arith::MaximumFOp, arith::MaxSIOp>(b, x, y);
}
Value ScalarBuilder::minimum(Value x, Value y) {
  return isUnsigned(x) ? b.create<arith::MinUIOp>(x, y).getResult()
                       : binary<arith::MinimumFOp, arith::MinSIOp>(b, x, y);
}

Value ScalarBuilder::exp(Value x) { return b.create<math::ExpOp>(x); }
Value ScalarBuilder::log(Value x) { return b.create<math::LogOp>(x); }
Value ScalarBuilder::log1p(Value x) { return b.create<math::Log1pOp>(x); }
Value ScalarBuilder::expm1(Value x) { return b.create<math::ExpM1Op>(x); }
Value ScalarBuilder::tanh(Value x) { return b.create<math::TanhOp>(x); }
Value ScalarBuilder::erf(Value x) { return b.create<math::ErfOp>(x); }
Value ScalarBuilder::sqrt(Value x) { return b.create<math::SqrtOp>(x); }
Value ScalarBuilder::rsqrt(Value x) { return div(constant(1), sqrt(x)); }
Value ScalarBuilder::pow(Value x, Value y) {
  return b.create<math::PowFOp>(x, y);
}
Value ScalarBuilder::sin(Value x) { return b.create<math::SinOp>(x); }
Value ScalarBuilder::cos(Value x) { return b.create<math::CosOp>(x); }
Value ScalarBuilder::floor(Value x) { return b.create<math::FloorOp>(x); }
Value ScalarBuilder::ceil(Value x) { return b.create<math::CeilOp>(x); }
Value ScalarBuilder::roundEven(Value x) {
  return b.create<math::RoundEvenOp>(x);
}

Value ScalarBuilder::compare(Compare predicate, Value x, Value y) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static constexpr F kFloat[] = {F::OEQ, F::UNE, F::OLT,
                                 F::OLE, F::OGT, F::OGE};
  static constexpr I kSigned[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  static constexpr I kUnsigned[] = {I::eq,  I::ne,  I::ult,
                                    I::ule, I::ugt, I::uge};
  auto p = static_cast<unsigned>(predicate);
  if (isFloat(x))
    return b.create<arith::CmpFOp>(kFloat[p], x, y);
  return b.create<arith::CmpIOp>(isUnsigned(x) ? kUnsigned[p] : kSigned[p], x,
                                 y);
}
Value ScalarBuilder::isNaN(Value x) {
  return b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
}
Value ScalarBuilder::isFinite(Value x) {
  // |x| < inf is false for NaN as well.
  Value infinity = b.create<arith::ConstantOp>(
      b.getFloatAttr(x.getType(), std::numeric_limits<double>::infinity()));
  return compare(Compare::Less, abs(x), infinity);
}
Value ScalarBuilder::select(Value condition, Value x, Value y) {
  return b.create<arith::SelectOp>(condition, x, y);
}
Value ScalarBuilder::andi(Value x, Value y) {
  return b.create<arith::AndIOp>(x, y);
}
Value ScalarBuilder::ori(Value x, Value y) {
  return b.create<arith::OrIOp>(x, y);
}
Value ScalarBuilder::xori(Value x, Value y) {
  return b.create<arith::XOrIOp>(x, y);
}
Value ScalarBuilder::noti(Value x) {
  return xori(x, constantInt(1, x.getType()));
}

Value ScalarBuilder::convert(Value x, Type to) {
  Type from = x.getType();
  if (from == to)
    return x;
  if (to.isInteger(1))
    return compare(Compare::NotEqual, x, constantLike(x, 0));
  if (from.isIndex() || to.isIndex()) {
    if (isFloat(x))
      return convert(convert(x, b.getI64Type()), to);
    if (isa<FloatType>(to))
      return convert(convert(x, b.getI64Type()), to);
    if (from.isInteger(1))
      return b.create<arith::IndexCastUIOp>(to, x);
    return b.create<arith::IndexCastOp>(to, x);
  }
  if (isFloat(x) && isa<FloatType>(to)) {
    if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
      return b.create<arith::ExtFOp>(to, x);
    return b.create<arith::TruncFOp>(to, x);
  }
  if (isFloat(x))
    return b.create<arith::FPToSIOp>(to, x);
  if (isa<FloatType>(to))
    return from.isInteger(1) ? b.create<arith::UIToFPOp>(to, x).getResult()
                             : b.create<arith::SIToFPOp>(to, x).getResult();
  if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return b.create<arith::TruncIOp>(to, x);
  return from.isInteger(1) ? b.create<arith::ExtUIOp>(to, x).getResult()
                           : b.create<arith::ExtSIOp>(to, x).getResult();
}

Value ScalarBuilder::linearize(ValueRange index, ArrayRef<int64_t> shape) {
  Value offset;
  for (auto [i, extent] : llvm::zip_equal(index, shape)) {
    if (!offset)
      offset = i;
    else
      offset = add(mul(offset, constantIndex(extent)), i);
  }
  return offset ? offset : constantIndex(0);
}

SmallVector<Value> ScalarBuilder::delinearize(Value offset,
                                              ArrayRef<int64_t> shape) {
  SmallVector<Value> index(shape.size());
  for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] == 1) {
      index[d] = constantIndex(0);
      continue;
    }
    if (d == 0) {
      index[d] = offset;
      continue;
    }
    index[d] = rem(offset, constantIndex(shape[d]));
    offset = div(offset, constantIndex(shape[d]));
  }
  return index;
}

SmallVector<Value> ScalarBuilder::broadcastIndex(ValueRange index,
                                                 ArrayRef<int64_t> shape) {
  SmallVector<Value> result;
  for (auto [i, extent] : llvm::zip_equal(index.take_back(shape.size()), shape))
    result.push_back(extent == 1 ? constantIndex(0) : i);
  return result;
}

Value ScalarBuilder::loop(ArrayRef<int64_t> extents, Value init,
                          function_ref<Value(ValueRange, Value)> body) {
  SmallVector<Value> index;
  std::function<Value(size_t, Value)> nest = [&](size_t depth,
                                                 Value carried) -> Value {
    if (depth == extents.size())
      return body(index, carried);
    auto outer = b.saveInsertionPoint();
    auto loop =
        b.create<scf::ForOp>(constantIndex(0), constantIndex(extents[depth]),
                             constantIndex(1), ValueRange{carried});
    b.setInsertionPointToStart(loop.getBody());
    index.push_back(loop.getInductionVar());
    Value result = nest(depth + 1, loop.getRegionIterArg(0));
    index.pop_back();
    b.create<scf::YieldOp>(result);
    b.restoreInsertionPoint(outer);
    return loop.getResult(0);
  };
  return nest(0, init);
}

} // namespace halftone
