// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace halftone::passes {

/// Rewrites the exporters' chains of 0.5 x (1 + erf(x / sqrt 2)) and 0.5 x (1 +
/// tanh(sqrt(2/pi) (x + 0.044715 x^3))), factors in any order, to one gelu op:
/// as a chain its Pow would be denied low precision and pull its neighbours
/// along.
void populateGeluPatterns(mlir::RewritePatternSet &patterns);

} // namespace halftone::passes
