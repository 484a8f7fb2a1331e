// SPDX-License-Identifier: Apache-2.0
// The functions of cuDNN's backend interface that the runtime calls, found in
// libcudnn.so.9 when first asked for.
#pragma once

#include "runtime/base/Status.h"

#include <cudnn_backend.h>
#include <string>

namespace halftone::runtime::cudnn {

/// Declared by cuDNN's header; each is named after its function without the
/// prefix "cudnn".
struct Library {
  std::string version; ///< "9.14.0"

  decltype(&::cudnnGetVersion) getVersion;
  decltype(&::cudnnGetCudartVersion) getCudartVersion;
  decltype(&::cudnnGetErrorString) getErrorString;
  decltype(&::cudnnGetLastErrorString) getLastErrorString;
  decltype(&::cudnnCreate) create;
  decltype(&::cudnnDestroy) destroy;
  decltype(&::cudnnSetStream) setStream;
  decltype(&::cudnnBackendCreateDescriptor) createDescriptor;
  decltype(&::cudnnBackendDestroyDescriptor) destroyDescriptor;
  decltype(&::cudnnBackendFinalize) finalize;
  decltype(&::cudnnBackendSetAttribute) setAttribute;
  decltype(&::cudnnBackendGetAttribute) getAttribute;
  decltype(&::cudnnBackendExecute) execute;
};

/// The remedy where parts of the library are missing or of another release.
inline constexpr std::string_view kBrokenInstallation =
    "install cuDNN anew: its parts (libcudnn_*.so.9) must be of one release "
    "and lie beside libcudnn.so.9";
/// The remedy where the library has no engine for a convolution.
inline constexpr std::string_view kNoEngine =
    "install a newer cuDNN 9.x for CUDA 13, or compile the plan with another "
    "--precision";

/// Opens the library, once a process. Fails (StatusCode::Unsupported) with the
/// remedy where it is missing or too old.
Result<const Library *> loadLibrary();

/// Success, or a failure that names `what` was tried, the library's words for
/// the error, and a remedy.
Status toStatus(const Library &library, cudnnStatus_t status,
                std::string_view what);

} // namespace halftone::runtime::cudnn
