// SPDX-License-Identifier: Apache-2.0
// Buffers become offsets.
#pragma once
#include "compiler/exec/ExecOps.h"
#include <map>
#include <string>

namespace halftone::passes {

/// Bytes of each arena, by name.
using ArenaSizes = std::map<std::string, int64_t>;

/// Needs: a module with the exec programs that share persistent values. Leaves:
/// every exec.buffer with an offset. Persistent arenas and inputs are laid out
/// once for all programs (a name has one place); activations of each program
/// reuse memory by liveness.
ArenaSizes planMemory(mlir::ModuleOp module);

/// One stretch of memory and the steps [first, last] during which it is in use.
struct Lifetime {
  int64_t bytes = 0, first = 0, last = 0;
};

/// Offsets (multiples of 256) such that stretches alive at one time do not
/// overlap; returns the total.
int64_t packLifetimes(llvm::ArrayRef<Lifetime> lifetimes,
                      llvm::SmallVectorImpl<int64_t> &offsets);

} // namespace halftone::passes
