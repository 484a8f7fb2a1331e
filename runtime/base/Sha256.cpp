// SPDX-License-Identifier: Apache-2.0
// SHA-256 as FIPS 180-4 states it, one 64-byte block at a time.
#include "runtime/base/Sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace halftone::runtime {

namespace {
constexpr std::array<uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
} // namespace

void Sha256::block(const uint8_t *data) {
  std::array<uint32_t, 64> w;
  for (int i = 0; i < 16; ++i)
    w[i] = uint32_t(data[4 * i]) << 24 | uint32_t(data[4 * i + 1]) << 16 |
           uint32_t(data[4 * i + 2]) << 8 | data[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    uint32_t s0 =
        std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    uint32_t s1 =
        std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> sums{a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i)
    state[i] += sums[i];
}

void Sha256::update(std::span<const std::byte> data) {
  auto *bytes = reinterpret_cast<const uint8_t *>(data.data());
  size_t left = data.size(), used = total % 64;
  if (left == 0)
    return; // Its pointer may be null.
  total += left;
  if (used != 0) {
    size_t taken = std::min(64 - used, left);
    std::memcpy(pending.data() + used, bytes, taken);
    bytes += taken, left -= taken;
    if (used + taken < 64)
      return;
    block(pending.data());
  }
  for (; left >= 64; bytes += 64, left -= 64)
    block(bytes);
  if (left != 0)
    std::memcpy(pending.data(), bytes, left);
}

Sha256Digest Sha256::finish() {
  uint64_t bits = total * 8;
  std::array<std::byte, 72> padding{std::byte{0x80}};
  size_t used = total % 64;
  size_t zeros = (used < 56 ? 56 : 120) - used;
  for (int i = 0; i < 8; ++i)
    padding[zeros + i] = std::byte(bits >> (56 - 8 * i));
  update({padding.data(), zeros + 8});
  Sha256Digest digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Sha256Digest sha256(std::span<const std::byte> data) {
  Sha256 hash;
  hash.update(data);
  return hash.finish();
}

std::string toHex(const Sha256Digest &digest) {
  std::string text;
  for (uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

} // namespace halftone::runtime
