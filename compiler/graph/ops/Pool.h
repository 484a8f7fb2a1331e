// SPDX-License-Identifier: Apache-2.0
// What the pools share: their attributes as a window, host loops over it, and
// how many taps of a window count.
#pragma once
#include "compiler/graph/BroadcastShape.h"
#include "compiler/graph/ops/WindowGeometry.h"
#include "compiler/interfaces/HostTensor.h"

namespace halftone::graph {

/// Window of a pool over `x` [N, C, spatial...]; 1 to 3 spatial axes, no
/// padding as wide as the window. `Op` is an op or its adaptor.
llvm::FailureOr<WindowGeometry>
poolWindow(std::optional<mlir::Location> location, llvm::ArrayRef<int64_t> x,
           const WindowAttributes &attributes);
/// The shape of such a pool's result.
llvm::FailureOr<llvm::SmallVector<int64_t>>
pooledShape(std::optional<mlir::Location> location, llvm::ArrayRef<int64_t> x,
            const WindowAttributes &attributes);
template <typename Op> WindowAttributes poolAttributes(Op op) {
  return {op.getKernelShape(), op.getStrides(), op.getDilations(),
          op.getPads(),        op.getAutoPad(), op.getCeilMode() != 0};
}
/// For a gradient op, whose padding is resolved and whose output extents its
/// operand `dy` states.
template <typename Op> WindowGeometry gradientWindow(Op op, mlir::Value dy) {
  WindowAttributes attributes{op.getKernelShape(), op.getStrides(),
                              op.getDilations(), op.getPads()};
  WindowGeometry window = *poolWindow(std::nullopt, op.getShape(), attributes);
  llvm::ArrayRef<int64_t> output = shapeOf(dy).drop_front(2);
  window.output.assign(output.begin(), output.end());
  return window;
}

/// The index in the operand of a kernel that writes `index`, with other
/// spatial positions.
llvm::SmallVector<mlir::Value> inputIndex(mlir::ValueRange index,
                                          mlir::ValueRange spatial);

/// Calls `fn(plane, output offset in the plane, output index)` for each result
/// position of a pool over `planes` = N C planes.
void forEachWindow(const WindowGeometry &window, int64_t planes,
                   llvm::function_ref<void(int64_t plane, int64_t offset,
                                           llvm::ArrayRef<int64_t> output)>
                       fn);
/// Calls `fn(input offset in the plane)` for each tap inside the input, in scan
/// order.
void forEachTap(const WindowGeometry &window, llvm::ArrayRef<int64_t> output,
                llvm::function_ref<void(int64_t offset)> fn);

/// Number of taps that count in the mean of the window at `output`: those in
/// the input, with `includePad` also those in its padding.
int64_t tapCount(const WindowGeometry &window, llvm::ArrayRef<int64_t> output,
                 bool includePad);
/// The same as an emitted f32.
mlir::Value emitTapCount(ScalarBuilder &b, const WindowGeometry &window,
                         mlir::ValueRange output, bool includePad);

} // namespace halftone::graph
