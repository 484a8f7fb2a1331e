// SPDX-License-Identifier: Apache-2.0
// Decides which values are computed right where they must end up: gradients in
// their arena, updated states over their old value.
#pragma once
#include "compiler/graph/GraphDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace halftone::passes {

/// A value's place inside a pack.
struct PackPlace {
  graph::PackOp pack;
  unsigned part;
};

struct Places {
  /// Values produced directly into a part of a pack (of gradients). All other
  /// parts are copied.
  llvm::DenseMap<mlir::Value, PackPlace> packed;
  /// Assigned values that overwrite their target when they are computed: value
  /// -> target. All other assigns are copies at the end.
  llvm::DenseMap<mlir::Value, mlir::Value> inPlace;
};

/// Whether a pack only names parameters, which lie there anyway.
bool isParameterPack(graph::PackOp pack);

/// Needs: a fused program in its final order.
Places assignPlaces(graph::ProgramOp program);

} // namespace halftone::passes
