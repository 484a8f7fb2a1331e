// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for the hashes of plans and weight files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace halftone::runtime {

using Sha256Digest = std::array<uint8_t, 32>;

class Sha256 {
public:
  void update(std::span<const std::byte> data);
  /// The digest of everything given so far; the object is used up.
  Sha256Digest finish();

private:
  void block(const uint8_t *data);

  std::array<uint32_t, 8> state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending{};
  uint64_t total = 0;
};

Sha256Digest sha256(std::span<const std::byte> data);

/// 64 lower-case hexadecimal digits.
std::string toHex(const Sha256Digest &digest);

} // namespace halftone::runtime
