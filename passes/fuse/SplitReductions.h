// SPDX-License-Identifier: Apache-2.0
// Long column reductions in two kernels.
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::passes {

/// Needs: primitives and library calls (lowerComposites). A reduction that
/// keeps its innermost axis is computed by as many groups of threads as there
/// are columns: where these are too few for a GPU, some axes are reduced first
/// and the rest after them.
void splitReductions(graph::ProgramOp program);

} // namespace halftone::passes
