// SPDX-License-Identifier: Apache-2.0
// A dense tensor on the host, exact enough to be an oracle: floats of any width
// as double, integers and bools as int64.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <vector>

namespace halftone {

/// Row-major, static shape. Exactly one of the two vectors holds the elements,
/// by the element type.
class HostTensor {
public:
  HostTensor() = default;
  /// All zeros.
  explicit HostTensor(mlir::RankedTensorType type);

  /// From a constant; nullopt where the attribute is not dense numbers (a
  /// stripped resource, say).
  static std::optional<HostTensor> fromAttr(mlir::ElementsAttr attr);
  /// Rounded to the type's element type.
  mlir::DenseElementsAttr toAttr() const;

  mlir::RankedTensorType getType() const { return type; }
  mlir::Type getElementType() const { return type.getElementType(); }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getRank() const { return type.getRank(); }
  int64_t size() const { return type.getNumElements(); }
  bool isFloat() const;

  /// Element as a double or an integer whatever the type (conversion truncates
  /// towards zero).
  double asDouble(int64_t i) const;
  int64_t asInt(int64_t i) const;
  /// Stores into either kind.
  void set(int64_t i, double value);
  void set(int64_t i, int64_t value);

  std::vector<double> floats;
  std::vector<int64_t> ints;

private:
  mlir::RankedTensorType type;
};

/// Rounds to the nearest value of a float type (f32, f16, bf16; ties to even);
/// other types return the value.
double roundTo(double value, mlir::Type elementType);

/// Row-major strides in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Steps `index` to the next one in row-major order; false after the last.
bool nextIndex(llvm::MutableArrayRef<int64_t> index,
               llvm::ArrayRef<int64_t> shape);

/// Offset in a row-major tensor `shape` of the element that NumPy broadcasting
/// to `index` reads (trailing dimensions align).
int64_t broadcastOffset(llvm::ArrayRef<int64_t> index,
                        llvm::ArrayRef<int64_t> shape);

} // namespace halftone
