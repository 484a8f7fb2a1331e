// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 and its normal draw.
#include "runtime/base/Philox.h"

#include <cmath>
#include <numbers>

namespace halftone::runtime {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> c,
                                   std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53u) * c[0];
    uint64_t p1 = uint64_t(0xCD9E8D57u) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1),
         uint32_t(p0 >> 32) ^ c[3] ^ k[1], uint32_t(p0)};
    k = {k[0] + 0x9E3779B9u, k[1] + 0xBB67AE85u};
  }
  return c;
}

std::array<uint32_t, 4> philoxBlock(uint64_t seed, uint64_t stream,
                                    uint64_t index) {
  return philox4x32({uint32_t(index), uint32_t(index >> 32), uint32_t(stream),
                     uint32_t(stream >> 32)},
                    {uint32_t(seed), uint32_t(seed >> 32)});
}

std::array<double, 4> philoxNormal(uint64_t seed, uint64_t stream,
                                   uint64_t index) {
  std::array<uint32_t, 4> words = philoxBlock(seed, stream, index);
  std::array<double, 4> draws;
  for (int i = 0; i < 4; i += 2) {
    // Half a step above zero keeps the logarithm finite.
    double radius = std::sqrt(-2.0 * std::log((words[i] + 0.5) * 0x1p-32));
    double angle = 2.0 * std::numbers::pi * (words[i + 1] + 0.5) * 0x1p-32;
    draws[i] = radius * std::cos(angle);
    draws[i + 1] = radius * std::sin(angle);
  }
  return draws;
}

} // namespace halftone::runtime
