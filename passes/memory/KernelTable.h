// SPDX-License-Identifier: Apache-2.0
// The distinct kernels of a module: equal bodies (twelve equal layers) are
// generated once.
#pragma once
#include "compiler/exec/ExecOps.h"
#include "compiler/graph/GraphDialect.h"
#include "llvm/ADT/StringMap.h"

namespace halftone::passes {

class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp module);

  /// The exec.kernel that computes `fused`, created on first use. `inPlace`:
  /// outputs that share memory with an input, as pairs (input, output); part of
  /// the kernel's identity, as an attribute `in_place` of its graph.fused.
  mlir::FlatSymbolRefAttr lookup(graph::FusedOp fused,
                                 llvm::ArrayRef<int64_t> inPlace);

private:
  mlir::ModuleOp module;
  llvm::StringMap<mlir::FlatSymbolRefAttr> byText;
};

} // namespace halftone::passes
