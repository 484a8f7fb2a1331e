// SPDX-License-Identifier: Apache-2.0
// Descriptors inside attributes go by pointer to their handles.
#include "runtime/libs/cudnn/Descriptor.h"

namespace halftone::runtime::cudnn {

Descriptor::Descriptor(const Library &library,
                       cudnnBackendDescriptorType_t type)
    : library(&library) {
  note(library.createDescriptor(type, &handle));
}

Descriptor::Descriptor(Descriptor &&other) noexcept
    : library(other.library), handle(std::exchange(other.handle, nullptr)),
      firstFailure(other.firstFailure) {}

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
  library = other.library;
  std::swap(handle, other.handle);
  firstFailure = other.firstFailure;
  return *this;
}

Descriptor::~Descriptor() {
  if (handle)
    library->destroyDescriptor(handle);
}

void Descriptor::set(cudnnBackendAttributeName_t name,
                     const Descriptor &value) {
  note(value.firstFailure);
  note(library->setAttribute(handle, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                             static_cast<const void *>(&value.handle)));
}

Status Descriptor::finalize(std::string_view what) {
  if (firstFailure == CUDNN_STATUS_SUCCESS)
    note(library->finalize(handle));
  return status(what);
}

std::vector<Descriptor>
Descriptor::getDescriptors(cudnnBackendAttributeName_t name,
                           cudnnBackendDescriptorType_t type, size_t limit) {
  std::vector<Descriptor> found;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (size_t i = 0; i < limit; ++i) {
    found.emplace_back(*library, type);
    note(found.back().firstFailure);
    handles.push_back(found.back().handle);
  }
  int64_t count = 0;
  if (firstFailure == CUDNN_STATUS_SUCCESS)
    note(library->getAttribute(handle, name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                               static_cast<int64_t>(limit), &count,
                               static_cast<void *>(handles.data())));
  size_t filled = firstFailure == CUDNN_STATUS_SUCCESS
                      ? std::min(limit, static_cast<size_t>(count))
                      : 0;
  found.erase(found.begin() + static_cast<ptrdiff_t>(filled), found.end());
  return found;
}

} // namespace halftone::runtime::cudnn
