// SPDX-License-Identifier: Apache-2.0
// NCCL, found in libnccl.so.2 when first asked for. So far only its version is
// asked.
#pragma once

#include "runtime/base/Status.h"

#include <string>

namespace halftone::runtime::nccl {

struct Library {
  std::string version; ///< "2.28.3"

  int (*getVersion)(int *version) = nullptr; ///< 0 is success.
};

/// Opens NCCL once a process; later calls give the same. Fails
/// (StatusCode::Unsupported), with the remedy, where it is missing or too old.
Result<const Library *> loadLibrary();

} // namespace halftone::runtime::nccl
