// SPDX-License-Identifier: Apache-2.0
// Conversions between float32 and the two 16-bit float types. Narrowing rounds
// to nearest, ties to even.
#pragma once

#include <bit>
#include <cstdint>

namespace halftone::runtime {

/// The bits of bfloat16 nearest to `value`; NaN stays a (quiet) NaN, overflow
/// gives infinity.
inline uint16_t floatToBfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float bfloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// The bits of IEEE binary16 nearest to `value`, subnormals included; NaN stays
/// a NaN, overflow gives infinity.
inline uint16_t floatToFloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return sign | 0x7e00u | static_cast<uint16_t>((magnitude >> 13) & 0x3ffu);
  if (magnitude >= 0x477ff000u) // 65520 and above round to infinity.
    return sign | 0x7c00u;
  if (magnitude < 0x38800000u) {
    // Adding 0.5 aligns the last bit of a binary16 subnormal (2^-24) with
    // float32's last bit, so that the hardware rounds.
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) -
                                        std::bit_cast<uint32_t>(0.5f));
  }
  magnitude += 0xfffu + ((magnitude >> 13) & 1u);
  return sign | static_cast<uint16_t>((magnitude - 0x38000000u) >> 13);
}

inline float float16ToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  uint32_t wide = exponent == 31 ? 0x7f800000u : (exponent + 112u) << 23;
  return std::bit_cast<float>(sign | wide | (mantissa << 13));
}

} // namespace halftone::runtime
