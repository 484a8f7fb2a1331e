// SPDX-License-Identifier: Apache-2.0
// Neighbouring loads and stores of a thread as one access of up to 16 bytes.
#pragma once
#include "compiler/codegen/IndexForms.h"
#include "mlir/IR/Operation.h"

namespace halftone::codegen {

/// Merges, within each block below `root`, loads of neighbouring elements into
/// the first and stores into the last of them, where the offset is a multiple
/// of the vector's length (buffers are aligned to 16 bytes). Needs that no
/// store of a block comes before a load of the same element; leaves memory
/// space 0 accesses as LLVM dialect ops where it merged.
void mergeAccesses(mlir::Operation *root, IndexForms &forms);

} // namespace halftone::codegen
