// SPDX-License-Identifier: Apache-2.0
// From loops over flat buffers to the LLVM dialect.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::codegen {

/// On an scf.for: no iteration depends on another through memory, so that LLVM
/// may vectorise without checks.
inline constexpr llvm::StringLiteral kParallelLoop = "halftone.parallel_loop";

struct LoweringOptions {
  unsigned indexBits = 64;
  bool convertsBfloat =
      false; ///< The target rounds f32 to bf16 itself, ties to even.
};

/// Needs llvm.func ops whose bodies hold arith, math, scf, memref and llvm ops
/// on flat memrefs. Leaves only the LLVM dialect.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module,
                                const LoweringOptions &options);

} // namespace halftone::codegen
