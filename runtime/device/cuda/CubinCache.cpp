// SPDX-License-Identifier: Apache-2.0
// An entry is a file named by the hash of what it was made from. It holds that
// hash, the hash of the code, and the code; one that does not agree with itself
// is as good as none.
#include "runtime/device/cuda/CubinCache.h"

#include "runtime/base/File.h"

#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace halftone::runtime::cuda {
namespace {

constexpr std::string_view kMagic = "HTCUBIN1";
constexpr size_t kHeader = kMagic.size() + 2 * sizeof(Sha256Digest);

std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Sha256Digest keyOf(const std::string &ptx, const CubinTarget &target) {
  Sha256 hash;
  hash.update(bytesOf(
      fmt::format("{}\n{}\nsm_{}\n", kMagic, target.driver, target.sm)));
  hash.update(bytesOf(ptx));
  return hash.finish();
}

std::string_view viewOf(const Sha256Digest &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

} // namespace

CubinCache CubinCache::ofUser() {
  const char *use = std::getenv("HALFTONE_CUDA_CACHE");
  if (use && std::string_view(use) == "0")
    return CubinCache({});
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return CubinCache(std::filesystem::path(cache) / "halftone/cubins");
  if (const char *home = std::getenv("HOME"); home && *home == '/')
    return CubinCache(std::filesystem::path(home) / ".cache/halftone/cubins");
  return CubinCache({});
}

std::filesystem::path CubinCache::pathOf(const std::string &ptx,
                                         const CubinTarget &target) const {
  if (folder.empty())
    return {};
  return folder / (toHex(keyOf(ptx, target)) + ".cubin");
}

std::optional<std::string> CubinCache::find(const std::string &ptx,
                                            const CubinTarget &target) const {
  if (folder.empty())
    return std::nullopt;
  auto file = MappedFile::open(pathOf(ptx, target));
  if (!file.ok() || file->bytes().size() <= kHeader)
    return std::nullopt;
  std::string_view content(reinterpret_cast<const char *>(file->bytes().data()),
                           file->bytes().size());
  std::string_view code = content.substr(kHeader);
  std::string header(kMagic);
  header += viewOf(keyOf(ptx, target));
  header += viewOf(sha256(bytesOf(code)));
  if (content.substr(0, kHeader) != header)
    return std::nullopt;
  return std::string(code);
}

void CubinCache::store(const std::string &ptx, const CubinTarget &target,
                       const std::string &cubin) const {
  if (folder.empty())
    return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return;
  std::string content(kMagic);
  content += viewOf(keyOf(ptx, target));
  content += viewOf(sha256(bytesOf(cubin)));
  content += cubin;
  // Without it the next start compiles again; nothing else is lost.
  (void)writeFileAtomically(pathOf(ptx, target), std::string_view(content));
}

} // namespace halftone::runtime::cuda
