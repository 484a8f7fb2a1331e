// SPDX-License-Identifier: Apache-2.0
// A libcudnn.so.9 that computes nothing, and offers one engine for everything:
// each of its calls can fail. cudnnDestroy tells of descriptors that are left.
#include "Faults.h"

#include <cudnn_backend.h>

namespace {

std::atomic<int> descriptors = 0; ///< That are alive.

cudnnStatus_t answer(const char *function) {
  return static_cast<cudnnStatus_t>(faultOf(function));
}

/// A handle that means nothing, and never the null that means none.
template <typename Handle>
cudnnStatus_t make(const char *function, Handle *handle) {
  static char thing;
  cudnnStatus_t status = answer(function);
  if (status == CUDNN_STATUS_SUCCESS)
    *handle = reinterpret_cast<Handle>(&thing);
  return status;
}

} // namespace

extern "C" {

size_t cudnnGetVersion() { return 91400; }
size_t cudnnGetCudartVersion() {
  int version = faultOf(__func__);
  return version ? static_cast<size_t>(version) : 13000;
}
const char *cudnnGetErrorString(cudnnStatus_t) { return "made up"; }
void cudnnGetLastErrorString(char *text, size_t size) {
  std::snprintf(text, size, "said by the stand-in");
}
cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  return make(__func__, handle);
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t) {
  if (descriptors != 0)
    std::fprintf(stderr, "descriptors left at cudnnDestroy: %d\n",
                 descriptors.load());
  return answer(__func__);
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t) {
  return answer(__func__);
}
cudnnStatus_t
cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t,
                             cudnnBackendDescriptor_t *descriptor) {
  cudnnStatus_t status = make(__func__, descriptor);
  descriptors += status == CUDNN_STATUS_SUCCESS;
  return status;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t) {
  --descriptors;
  return answer(__func__);
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t) {
  return answer(__func__);
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t,
                                       cudnnBackendAttributeName_t,
                                       cudnnBackendAttributeType_t, int64_t,
                                       const void *) {
  return answer(__func__);
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, int64_t,
                                       int64_t *count, void *values) {
  *count = name != CUDNN_ATTR_ENGINE_NUMERICAL_NOTE &&
           name != CUDNN_ATTR_ENGINECFG_KNOB_CHOICES;
  if (name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX)
    *static_cast<int64_t *>(values) = 1;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)
    *static_cast<int64_t *>(values) = 1024;
  return answer(__func__);
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t, cudnnBackendDescriptor_t,
                                  cudnnBackendDescriptor_t) {
  return answer(__func__);
}

} // extern "C"
