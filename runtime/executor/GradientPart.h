// SPDX-License-Identifier: Apache-2.0
// Which steps of a train program make loss and gradients.
#pragma once

#include "runtime/plan/Plan.h"

namespace halftone::runtime {

/// For each step, whether it belongs to the part that ends with complete
/// gradients: all that are not of the optimizer, and those of the optimizer
/// whose results these steps or the program's outputs read (fusion may join the
/// end of the loss with the optimizer's first checks). Steps of the optimizer
/// that write parameters never belong.
std::vector<bool> gradientSteps(const Plan &plan, const Program &program);

} // namespace halftone::runtime
