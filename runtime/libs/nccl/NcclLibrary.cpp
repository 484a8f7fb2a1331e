// SPDX-License-Identifier: Apache-2.0
// Opening of NCCL.
#include "runtime/libs/nccl/NcclLibrary.h"

#include "runtime/libs/cuda/DynamicLibrary.h"

namespace halftone::runtime::nccl {
namespace {

/// The minimum is the first one built for CUDA 13.
constexpr cuda::VersionedLibrary kLibrary{
    "libnccl.so.2", 22707,
    "several GPUs need NCCL 2.27.7 or a newer 2.x for CUDA 13: install it, or "
    "name its folder in HALFTONE_LIBRARY_PATH"};

Status load(Library &l) {
  const cuda::Symbol symbols[] = {cuda::symbol("ncclGetVersion", l.getVersion)};
  return cuda::bindVersioned(
      kLibrary, symbols,
      [&] {
        int number = 0;
        return l.getVersion(&number) == 0 ? static_cast<size_t>(number) : 0;
      },
      l.version);
}

} // namespace

Result<const Library *> loadLibrary() { return cuda::loadOnce(load); }

} // namespace halftone::runtime::nccl
