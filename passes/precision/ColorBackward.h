// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/precision/Decision.h"

namespace halftone::passes {

/// Colours backward and optimizer ops; needs the forward decisions. A backward
/// op takes the colour of the node that it is the gradient of, unless its own
/// list denies it. Rules of their own have
/// - reductions and scatters: FP32 sums that read what is stored; they deny
/// nobody;
/// - ops that only a parameter's gradient reads: FP32; products among them are
/// low with an f32 result;
/// - sums over several uses of a value: low where all their readers are.
/// Optimizer ops are FP32.
void colorBackward(graph::ProgramOp program, Color low, const Wishes &wishes,
                   Decisions &decisions);

} // namespace halftone::passes
