// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, cuDNN and NCCL as they were before what Halftone needs: all that
// they do is tell their version, and cuDNN that it is for CUDA 12.
#include <cstddef>

extern "C" size_t cublasLtGetVersion() { return 120803; }
extern "C" size_t cudnnGetVersion() { return 90100; }
extern "C" size_t cudnnGetCudartVersion() { return 12080; }
extern "C" int ncclGetVersion(int *version) {
  *version = 22005;
  return 0;
}
