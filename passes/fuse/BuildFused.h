// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/fuse/FusionGroup.h"

namespace halftone::passes {

/// Replaces a group's ops by one graph.fused at the place of the last. With
/// `inlineMaps` index maps of other groups, and what else costs nothing, are
/// computed again inside where all their users are kernels. Members that nobody
/// uses any more disappear; an empty group leaves nothing.
llvm::LogicalResult buildFused(FusionGroup &group, const FusionPlan &plan,
                               bool inlineMaps);

} // namespace halftone::passes
