// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/fuse/FusionGroup.h"

namespace halftone::passes {

/// Replaces a group's ops by one graph.fused at the place of the last. Index
/// maps of other groups whose users are all kernels are computed again inside
/// (`inlineMaps`). Members that nobody uses any more disappear; an empty group
/// leaves nothing.
llvm::LogicalResult buildFused(FusionGroup &group, bool inlineMaps);

} // namespace halftone::passes
