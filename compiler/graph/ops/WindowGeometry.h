// SPDX-License-Identifier: Apache-2.0
// How a window slides over spatial axes: the arithmetic that convolutions and
// pools share.
#pragma once
#include "compiler/interfaces/ScalarBuilder.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace halftone::graph {

/// A window in numbers, one entry a spatial axis. Tap k of output position o
/// reads input position `o * strides + k * dilations - padsBegin`, which may
/// lie outside.
struct WindowGeometry {
  llvm::SmallVector<int64_t> input, kernel, strides, dilations, padsBegin,
      padsEnd, output;

  size_t rank() const { return input.size(); }
  /// Input positions from the first tap to the last, both included.
  int64_t span(size_t axis) const {
    return (kernel[axis] - 1) * dilations[axis] + 1;
  }
  /// In ONNX's order: all begins, then all ends.
  llvm::SmallVector<int64_t> pads() const;
};

/// ONNX's attributes of a window as they stand on the op.
struct WindowAttributes {
  llvm::ArrayRef<int64_t> kernel;
  std::optional<llvm::ArrayRef<int64_t>> strides, dilations, pads;
  llvm::StringRef autoPad = "NOTSET";
  bool ceilMode = false;
};

/// Resolves defaults, `auto_pad` and the output extents. With `ceilMode` a last
/// partial window counts unless it starts in the end padding (PyTorch's and
/// ONNX's rule). Fails, with a message at `location`, for lists of a wrong
/// length, values out of range, or a window that does not fit.
llvm::FailureOr<WindowGeometry>
windowGeometry(std::optional<mlir::Location> location,
               llvm::ArrayRef<int64_t> input,
               const WindowAttributes &attributes);

/// One tap of a window in a kernel that is being emitted.
struct TapPosition {
  llvm::SmallVector<mlir::Value>
      index; ///< Spatial input position; wraps around where it is negative.
  mlir::Value inside; ///< i1: all of `index` lie in the input.
};
TapPosition emitTap(ScalarBuilder &b, const WindowGeometry &window,
                    mlir::ValueRange output, mlir::ValueRange tap);

} // namespace halftone::graph
