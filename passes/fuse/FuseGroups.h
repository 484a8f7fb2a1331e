// SPDX-License-Identifier: Apache-2.0
// Turns a coloured program into kernels-to-be, library calls and views.
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::passes {

struct FuseOptions {
  bool fuse = true; ///< --optimize none: every op is a kernel of its own
  bool channelsLast = false;    ///< --layout: putChannelsLast before fusion
  bool splitReductions = false; ///< for GPUs: splitReductions before fusion
};

/// Needs: primitives and library calls (lowerComposites), laid out and split as
/// `options` ask for. Leaves: every generated op inside a graph.fused; beside
/// these only library calls, reshapes (views), packs, sources, assigns and
/// outputs; the block in topological order.
llvm::LogicalResult fuseGroups(graph::ProgramOp program,
                               const FuseOptions &options);

} // namespace halftone::passes
