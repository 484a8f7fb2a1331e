// SPDX-License-Identifier: Apache-2.0
// Opening of cuDNN and its errors in words.
#include "runtime/libs/cudnn/CudnnLibrary.h"

#include "runtime/libs/cuda/DynamicLibrary.h"

#include <array>
#include <fmt/format.h>

namespace halftone::runtime::cudnn {
namespace {

using cuda::symbol;

/// The minimum is the first one built for CUDA 13.
constexpr cuda::VersionedLibrary kLibrary{
    "libcudnn.so.9", 91200,
    "convolutions need cuDNN 9.12 or a newer 9.x for CUDA 13: install it, or "
    "name its folder in HALFTONE_LIBRARY_PATH"};

Status load(Library &l) {
  const cuda::Symbol symbols[] = {
      symbol("cudnnGetVersion", l.getVersion),
      symbol("cudnnGetErrorString", l.getErrorString),
      symbol("cudnnGetLastErrorString", l.getLastErrorString),
      symbol("cudnnCreate", l.create),
      symbol("cudnnDestroy", l.destroy),
      symbol("cudnnSetStream", l.setStream),
      symbol("cudnnBackendCreateDescriptor", l.createDescriptor),
      symbol("cudnnBackendDestroyDescriptor", l.destroyDescriptor),
      symbol("cudnnBackendFinalize", l.finalize),
      symbol("cudnnBackendSetAttribute", l.setAttribute),
      symbol("cudnnBackendGetAttribute", l.getAttribute),
      symbol("cudnnBackendExecute", l.execute),
  };
  return cuda::bindVersioned(
      kLibrary, symbols, [&] { return l.getVersion(); }, l.version);
}

} // namespace

Result<const Library *> loadLibrary() { return cuda::loadOnce(load); }

Status toStatus(const Library &library, cudnnStatus_t status,
                std::string_view what) {
  if (status == CUDNN_STATUS_SUCCESS)
    return {};
  std::array<char, 512> detail{};
  library.getLastErrorString(detail.data(), detail.size());
  return failed(fmt::format("cuDNN {}: {}: {}{}{}", library.version, what,
                            library.getErrorString(status),
                            detail[0] ? "; " : "", detail.data()));
}

} // namespace halftone::runtime::cudnn
