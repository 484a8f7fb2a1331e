// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011), on the host and as kernel arithmetic: the same bits from both.
#pragma once
#include "compiler/interfaces/ScalarBuilder.h"
#include <array>

namespace halftone::graph {

/// First word of the block under `counter` and `key`.
uint32_t philoxWord(std::array<uint32_t, 4> counter,
                    std::array<uint32_t, 2> key);

/// The same on i32 values.
mlir::Value emitPhiloxWord(ScalarBuilder &b, std::array<mlir::Value, 4> counter,
                           std::array<mlir::Value, 2> key);

} // namespace halftone::graph
