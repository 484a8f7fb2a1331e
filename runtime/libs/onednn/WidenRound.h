// SPDX-License-Identifier: Apache-2.0
// Whole arrays between float32 and the 16-bit float types, on all threads:
// what lets products of low tensors run in float32.
#pragma once

#include "runtime/base/ElementType.h"

namespace halftone::runtime::onednn {

/// Writes `count` elements of `type` (F16 or BF16) at `source` as float32;
/// exact.
void widen(ElementType type, const void *source, float *destination,
           int64_t count);

/// Rounds `count` floats to `type` (F16 or BF16), to nearest, ties to even.
/// Equal to Float16.h element by element.
void round(ElementType type, const float *source, void *destination,
           int64_t count);

} // namespace halftone::runtime::onednn
