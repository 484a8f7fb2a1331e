// SPDX-License-Identifier: Apache-2.0
// Elementary functions as polynomials in arith ops: the same bits on every
// target, and nothing that blocks vectorisation.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace halftone::codegen {

/// Replaces the math ops that no processor has by arithmetic accurate to a few
/// units in the last place of f32, and fuses multiply-adds where the flags
/// allow; afterwards no rounding depends on how LLVM vectorises.
mlir::LogicalResult expandMath(mlir::ModuleOp module);

} // namespace halftone::codegen
