// SPDX-License-Identifier: Apache-2.0
// Which results are not worth their memory.
#pragma once
#include "mlir/IR/Operation.h"

namespace halftone::passes {

/// Whether a kernel that needs the result of an elementwise op loses nothing
/// by computing it again: few instructions on one large operand, which is no
/// wider than the result, and on others that caches hold. The optimizer's ops
/// are left alone, since what they read is overwritten.
bool isCheaperThanItsResult(mlir::Operation *op);

} // namespace halftone::passes
