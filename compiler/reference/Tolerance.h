// SPDX-License-Identifier: Apache-2.0
// The one table of tolerances: how far a device's result may lie from the host
// reference. All generated arithmetic is float32 (unit roundoff u = 2^-24).
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include <algorithm>
#include <cmath>

namespace halftone::reference {

/// Unit roundoff of float32.
inline constexpr double kRoundoff = 0x1p-24;

/// Relative error, in u, of one arithmetic or math function (exp, erf, pow,
/// tanh of the device's library; products and sums are below 1), beyond that of
/// its operands: what is computed is f(x (1 + kOperandError u)) (1 +
/// kFunctionError u). The operands' part covers functions that cancel inside,
/// such as the derivative of gelu near its zero.
inline constexpr double kFunctionError = 4;
inline constexpr double kOperandError = 2;

/// A sum of n terms errs by at most n * u * sum|term|, by about sqrt(n) where
/// roundings are independent. Allowed: what is worst for short sums, four times
/// the expected for long ones, in u * sum|term|.
inline double sumError(int64_t n) {
  return std::min(static_cast<double>(n) + 2,
                  8 + 4 * std::sqrt(static_cast<double>(n)));
}

/// TF32 rounds both factors to 11 bits: relative error of a product.
inline constexpr double kTf32Product = 0x1p-10;

/// A step's float32 error is estimated by the spread of a few evaluations in
/// which every operation errs by a random part of its allowance; the bound is
/// this many times the largest spread seen.
inline constexpr double kSpreadFactor = 4;
/// Evaluations at first, and once more for a step that fails.
inline constexpr unsigned kSamples = 2, kMoreSamples = 16;

/// float32 results below this may be flushed to zero.
inline constexpr double kFlushed = 0x1p-126;

/// Half a unit in the last place of `type` at magnitude `x`: one rounding. Zero
/// for types without rounding.
inline double halfUlp(double x, mlir::Type type) {
  auto floatType = llvm::dyn_cast<mlir::FloatType>(type);
  if (!floatType || floatType.isF64() || !std::isfinite(x))
    return 0;
  const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
  int precision =
      static_cast<int>(llvm::APFloat::semanticsPrecision(semantics));
  int minExponent = llvm::APFloat::semanticsMinExponent(semantics);
  int exponent = x == 0 ? minExponent : std::max(std::ilogb(x), minExponent);
  return std::ldexp(1.0, exponent - precision);
}

} // namespace halftone::reference
