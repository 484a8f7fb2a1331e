// SPDX-License-Identifier: Apache-2.0
// Threads, warps and shared memory of a CUDA kernel that is being emitted.
#pragma once
#include "compiler/codegen/KernelFunction.h"
#include "compiler/codegen/ReductionPlan.h"

namespace halftone::codegen {

inline constexpr int64_t kWarp = 32;

class CudaBuilder : public ScalarBuilder {
public:
  CudaBuilder(KernelFunction &kernel)
      : ScalarBuilder(kernel.b, kernel.loc), kernel(kernel) {}

  /// Sets the launch: a one-dimensional grid of blocks of `threads`.
  void launch(int64_t blocks, int64_t threads);
  mlir::Value thread(IndexForms &forms); ///< Within the block, `index`.
  mlir::Value block(IndexForms &forms);  ///< Of the grid, `index`.

  /// All threads of the block; must be reached by all.
  void barrier();
  /// All lanes of the warp.
  void syncWarp();
  /// Value of the lane whose number differs in the bits of `mask`. Any scalar
  /// type of 32 or 64 bits, and i1.
  mlir::Value shuffleXor(mlir::Value v, int64_t mask);
  /// Bit l tells whether lane l has `condition`; i32.
  mlir::Value ballot(mlir::Value condition);
  /// A flat array in shared memory of scalars of `type`.
  mlir::Value sharedArray(int64_t size, mlir::Type type);

  /// Combines the accumulators of `lanes` neighbouring lanes (a power of two up
  /// to 32); all of them get the result.
  mlir::Value reduceLanes(Accumulator &accumulator, mlir::Value v,
                          int64_t lanes);

  /// Code for the threads where `condition` holds.
  void when(mlir::Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = {});

private:
  KernelFunction &kernel;
};

/// Elements a thread should take along the innermost dimension: 16 bytes of the
/// widest element of the tensors with at least `extent` elements.
int64_t vectorLength(graph::FusedOp fused, int64_t extent);

} // namespace halftone::codegen
