// SPDX-License-Identifier: Apache-2.0
// Tells masks from parameters in files that do not say which tensors train.
#pragma once
#include "frontends/onnx/InitializerUses.h"
#include "frontends/onnx/Initializers.h"

namespace halftone::onnx_frontend {

/// Whether a float initializer switches elements on and off instead of being
/// trained. A name that says mask or weight decides; then the pattern of a
/// causal mask, which no weight has; then what is a factor of a product is a
/// parameter, whatever its values; of the rest, masks are tensors with values
/// that switch off and matrices of just two values.
bool isMask(const Initializer &initializer, const InitializerUses &uses);

} // namespace halftone::onnx_frontend
