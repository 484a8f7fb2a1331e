// SPDX-License-Identifier: Apache-2.0
// At least one case for each operator of products, windows, normalizations and
// losses; what Samples.h is for the others.
#pragma once
#include "tests/compiler/ops/OpCase.h"

namespace halftone::test {

std::vector<OpCase> productSamples();
std::vector<OpCase> convolutionSamples();
std::vector<OpCase> poolSamples();
std::vector<OpCase> normalizationSamples();
std::vector<OpCase> lossSamples();

/// All of the above.
std::vector<OpCase> modelSamples();

/// The seven operands of an attention op, absent ones at the end left out.
std::vector<Operand> attentionOperands(std::vector<Operand> given);
/// The five operands of a batch normalization of a tensor of shape `shape`.
std::vector<Operand> batchNormOperands(std::vector<int64_t> shape);

} // namespace halftone::test
