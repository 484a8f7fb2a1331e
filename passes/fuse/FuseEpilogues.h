// SPDX-License-Identifier: Apache-2.0
// What libraries add to a result before they store it.
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::passes {

/// Needs: primitives and library calls (lowerComposites). Lets a library op
/// compute what alone reads its result where its interface can build the two as
/// one, as a product and the addition of a bias: a rounding and a kernel's
/// reading less.
void fuseEpilogues(graph::ProgramOp program);

} // namespace halftone::passes
