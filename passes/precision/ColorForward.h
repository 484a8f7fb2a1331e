// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/precision/Decision.h"

namespace halftone::passes {

/// Colours the forward and loss ops of a program by the four lists (after
/// TensorFlow's auto_mixed_precision, along float values):
/// 1. every allow node is low;
/// 2. deny flows forward through infer and clear nodes as far as another deny
/// or infer node: trailing clear nodes stay;
/// 3. infer and clear nodes that lie behind one allow node and before another
/// become low;
/// 4. low spreads both ways through clear nodes.
/// Everything else is FP32. Nodes pinned by name take no part: a low one acts
/// as allow, a wide one stops every flow.
void colorForward(graph::ProgramOp program, Color low, const Wishes &wishes,
                  Decisions &decisions);

} // namespace halftone::passes
