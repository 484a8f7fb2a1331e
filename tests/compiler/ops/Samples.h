// SPDX-License-Identifier: Apache-2.0
// At least one case an operator, with operands in its smooth domain: what tests
// over the whole catalogue (gradients, decompositions, generated kernels) walk.
#pragma once
#include "tests/compiler/ops/OpCase.h"

namespace halftone::test {

std::vector<OpCase> elementwiseSamples();
std::vector<OpCase> logicSamples();
std::vector<OpCase> activationSamples();
std::vector<OpCase> movementSamples();
std::vector<OpCase> reductionSamples();
std::vector<OpCase> randomSamples();

/// All of the above.
std::vector<OpCase> basicSamples();

} // namespace halftone::test
