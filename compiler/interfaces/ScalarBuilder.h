// SPDX-License-Identifier: Apache-2.0
// Builds the scalar arithmetic of a generated kernel: floats are always f32,
// integers keep their width, indices are `index`.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <functional>

namespace halftone {

enum class Compare {
  Equal,
  NotEqual,
  Less,
  LessOrEqual,
  Greater,
  GreaterOrEqual
};

/// Thin layer over arith and math that works on f32 and on integers alike; both
/// operands have the same type.
class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(loc, b) {}
  virtual ~ScalarBuilder() = default;

  mlir::Value constant(double value);                      ///< f32
  mlir::Value constantInt(int64_t value, mlir::Type type); ///< iN or index
  mlir::Value constantIndex(int64_t value);
  mlir::Value constantLike(mlir::Value like,
                           double value); ///< of the type of `like`

  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x,
                  mlir::Value y); ///< integers truncate towards zero, as ONNX
  mlir::Value rem(mlir::Value x, mlir::Value y); ///< sign of the dividend (C)
  mlir::Value neg(mlir::Value x);
  mlir::Value abs(mlir::Value x);
  mlir::Value maximum(mlir::Value x, mlir::Value y); ///< NaN wins
  mlir::Value minimum(mlir::Value x, mlir::Value y); ///< NaN wins

  mlir::Value exp(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value log1p(mlir::Value x);
  mlir::Value expm1(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value sqrt(mlir::Value x);
  mlir::Value rsqrt(mlir::Value x); ///< 1/sqrt(x), correctly rounded division
  mlir::Value pow(mlir::Value x, mlir::Value y);
  mlir::Value sin(mlir::Value x);
  mlir::Value cos(mlir::Value x);
  mlir::Value floor(mlir::Value x);
  mlir::Value ceil(mlir::Value x);
  mlir::Value roundEven(mlir::Value x);

  /// Floats compare ordered, but NotEqual is true for NaN. Integers compare
  /// signed, bools and `index` unsigned.
  mlir::Value compare(Compare predicate, mlir::Value x, mlir::Value y); ///< i1
  mlir::Value isNaN(mlir::Value x);                                     ///< i1
  mlir::Value isFinite(mlir::Value x);                                  ///< i1
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value andi(mlir::Value x, mlir::Value y);
  mlir::Value ori(mlir::Value x, mlir::Value y);
  mlir::Value xori(mlir::Value x, mlir::Value y);
  mlir::Value noti(mlir::Value x); ///< i1

  /// Between any of f32, iN, i1 and index: float to int truncates, to i1 tests
  /// for non-zero, i1 widens to 0 or 1.
  mlir::Value convert(mlir::Value x, mlir::Type to);
  mlir::Value toIndex(mlir::Value x) { return convert(x, b.getIndexType()); }

  /// Row-major offset of `index` in `shape`, and back. `index` values.
  mlir::Value linearize(mlir::ValueRange index, llvm::ArrayRef<int64_t> shape);
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value offset,
                                             llvm::ArrayRef<int64_t> shape);

  /// The index that a broadcast operand of shape `shape` reads for the result's
  /// `index` (trailing dimensions align).
  llvm::SmallVector<mlir::Value> broadcastIndex(mlir::ValueRange index,
                                                llvm::ArrayRef<int64_t> shape);

  /// A serial loop nest over 0..extents, carrying one value; for small windows.
  mlir::Value loop(llvm::ArrayRef<int64_t> extents, mlir::Value init,
                   llvm::function_ref<mlir::Value(mlir::ValueRange index,
                                                  mlir::Value carried)>
                       body);

  mlir::ImplicitLocOpBuilder b;
};

/// Adds access to the operands of the op that is being emitted.
class ElementBuilder : public ScalarBuilder {
public:
  using ScalarBuilder::ScalarBuilder;
  /// Element of the op's operand `operand` at `index` (one `index` value per
  /// dimension, in bounds): f32 for floats.
  virtual mlir::Value load(unsigned operand, mlir::ValueRange index) = 0;
  /// Like load, but `fallback` where `inside` is false; `index` may then be out
  /// of bounds.
  virtual mlir::Value loadIf(mlir::Value inside, unsigned operand,
                             mlir::ValueRange index, mlir::Value fallback) = 0;
};

} // namespace halftone
