// SPDX-License-Identifier: Apache-2.0
// The checks behind PlanReader, on the plain structs.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

namespace halftone::runtime {

/// Checks arenas and buffers, and fills each buffer's elements and bytes.
Status checkBuffers(Plan &plan);

/// Checks kernels, the steps of both programs and their outputs. Buffers were
/// checked.
Status checkPrograms(const Plan &plan);

/// Checks parameters, states, constants, inputs and the weights file's name.
/// Buffers were checked.
Status checkValues(const Plan &plan);

} // namespace halftone::runtime
