// SPDX-License-Identifier: Apache-2.0
// The counter-based generator Philox4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", 2011), and draws from it. Equal (seed, stream,
// index) give equal numbers, in any order.
#pragma once

#include <array>
#include <cstdint>

namespace halftone::runtime {

/// Ten rounds of Philox4x32 on `counter` under `key`.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

/// The block `index` of the sequence (`seed`, `stream`): four 32-bit words.
std::array<uint32_t, 4> philoxBlock(uint64_t seed, uint64_t stream,
                                    uint64_t index);

/// Four independent draws from the standard normal distribution (Box and
/// Muller), from one block.
std::array<double, 4> philoxNormal(uint64_t seed, uint64_t stream,
                                   uint64_t index);

} // namespace halftone::runtime
