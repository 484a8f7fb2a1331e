// SPDX-License-Identifier: Apache-2.0
// Elementary functions of f32 in terms of arith ops, branch free. Errors are in
// units in the last place (ulp), over all floats; NaN, infinities, signed zeros
// and subnormal numbers are as in C.
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace halftone::codegen {

class ElementaryFunctions {
public:
  explicit ElementaryFunctions(mlir::ImplicitLocOpBuilder &b) : b(b) {}

  mlir::Value exp(mlir::Value x);                ///< 1 ulp
  mlir::Value expm1(mlir::Value x);              ///< 2 ulp
  mlir::Value log(mlir::Value x);                ///< 1 ulp
  mlir::Value log1p(mlir::Value x);              ///< 2 ulp
  mlir::Value tanh(mlir::Value x);               ///< 3 ulp
  mlir::Value erf(mlir::Value x);                ///< 2 ulp
  mlir::Value sin(mlir::Value x);                ///< 1 ulp where |x| < 2^40
  mlir::Value cos(mlir::Value x);                ///< 1 ulp where |x| < 2^40
  mlir::Value pow(mlir::Value x, mlir::Value y); ///< 1 ulp
  mlir::Value remainder(mlir::Value x,
                        mlir::Value y); ///< fmod, exact where |x / y| < 2^53

private:
  mlir::Value constant(mlir::Value like, double value);
  mlir::Value integer(mlir::Value like, int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  mlir::Value abs(mlir::Value x);
  mlir::Value bits(mlir::Value x);     ///< f32 to i32, f64 to i64
  mlir::Value fromBits(mlir::Value x); ///< and back
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value equal(mlir::Value x, mlir::Value y);
  /// Within [low, high]; NaN passes.
  mlir::Value clamp(mlir::Value x, double low, double high);
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> ascending);
  mlir::Value widen(mlir::Value x);  ///< f32 to f64
  mlir::Value narrow(mlir::Value x); ///< f64 to f32
  /// The nearest integer of x * scale as a float and in the low bits of an
  /// integer.
  std::pair<mlir::Value, mlir::Value> nearest(mlir::Value x, double scale);
  /// n and exp(r) - 1 with x = n log 2 + r; n as an i32.
  std::pair<mlir::Value, mlir::Value> reducedExpm1(mlir::Value x);
  /// 2^n from an i32 in the range of exponents.
  mlir::Value exp2OfInteger(mlir::Value n);
  mlir::Value sinOrCos(mlir::Value x, bool isCos);
  mlir::Value powByConstant(mlir::Value x, double y);
  mlir::Value powOfPositive(mlir::Value x, mlir::Value y);

  mlir::ImplicitLocOpBuilder &b;
};

} // namespace halftone::codegen
