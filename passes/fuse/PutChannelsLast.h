// SPDX-License-Identifier: Apache-2.0
// Where the channels of convolutions lie.
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::passes {

/// Needs: primitives and library calls (lowerComposites). Leaves: every op with
/// ChannelsLastOpInterface on tensors whose channels are their last axis, and
/// so all elementwise ops and reductions between these; where another op needs
/// the axes as they were, a transpose, which fusion makes part of a kernel.
llvm::LogicalResult putChannelsLast(graph::ProgramOp program);

} // namespace halftone::passes
