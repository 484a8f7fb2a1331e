// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for the hashes of plans, weight files and checkpoints.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace halftone::runtime {

using Sha256Digest = std::array<uint8_t, 32>;

/// A hash in progress, by OpenSSL.
class Sha256 {
public:
  Sha256();
  void update(std::span<const std::byte> data);
  /// The digest of everything given so far; the object is used up.
  Sha256Digest finish();

private:
  struct Free {
    void operator()(evp_md_ctx_st *context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context;
};

Sha256Digest sha256(std::span<const std::byte> data);

/// 64 lower-case hexadecimal digits.
std::string toHex(const Sha256Digest &digest);

} // namespace halftone::runtime
