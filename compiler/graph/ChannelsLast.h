// SPDX-License-Identifier: Apache-2.0
// From the axes as ONNX has them, channels second, to channels last and back.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace halftone::graph {

/// `shape` with axis 1 as the last axis, and the way back.
llvm::SmallVector<int64_t> channelsToEnd(llvm::ArrayRef<int64_t> shape);
llvm::SmallVector<int64_t> channelsFromEnd(llvm::ArrayRef<int64_t> shape);

/// The same as permutations of the axes, for transposes.
llvm::SmallVector<int64_t> orderToEnd(int64_t rank);
llvm::SmallVector<int64_t> orderFromEnd(int64_t rank);

} // namespace halftone::graph
