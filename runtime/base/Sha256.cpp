// SPDX-License-Identifier: Apache-2.0
// OpenSSL uses the processor's instructions for it where there are any.
#include "runtime/base/Sha256.h"

#include <openssl/evp.h>

namespace halftone::runtime {

void Sha256::Free::operator()(evp_md_ctx_st *context) const {
  EVP_MD_CTX_free(context);
}

Sha256::Sha256() : context(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
}

void Sha256::update(std::span<const std::byte> data) {
  EVP_DigestUpdate(context.get(), data.data(), data.size());
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  EVP_DigestFinal_ex(context.get(), digest.data(), nullptr);
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
