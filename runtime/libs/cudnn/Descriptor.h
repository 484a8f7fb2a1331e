// SPDX-License-Identifier: Apache-2.0
// A descriptor of cuDNN's backend interface: made, given attributes, finalized.
#pragma once

#include "runtime/libs/cudnn/CudnnLibrary.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace halftone::runtime::cudnn {

/// Which attribute type a C++ type stands for.
template <typename T> struct AttributeType;
template <cudnnBackendAttributeType_t Type> struct AttributeTypeIs {
  static constexpr cudnnBackendAttributeType_t kType = Type;
};
template <>
struct AttributeType<int64_t> : AttributeTypeIs<CUDNN_TYPE_INT64> {};
template <> struct AttributeType<float> : AttributeTypeIs<CUDNN_TYPE_FLOAT> {};
template <>
struct AttributeType<void *> : AttributeTypeIs<CUDNN_TYPE_VOID_PTR> {};
template <>
struct AttributeType<cudnnHandle_t> : AttributeTypeIs<CUDNN_TYPE_HANDLE> {};
template <>
struct AttributeType<cudnnDataType_t> : AttributeTypeIs<CUDNN_TYPE_DATA_TYPE> {
};
template <>
struct AttributeType<cudnnConvolutionMode_t>
    : AttributeTypeIs<CUDNN_TYPE_CONVOLUTION_MODE> {};
template <>
struct AttributeType<cudnnBackendHeurMode_t>
    : AttributeTypeIs<CUDNN_TYPE_HEUR_MODE> {};
template <>
struct AttributeType<cudnnBackendNumericalNote_t>
    : AttributeTypeIs<CUDNN_TYPE_NUMERICAL_NOTE> {};
template <>
struct AttributeType<cudnnBackendKnobType_t>
    : AttributeTypeIs<CUDNN_TYPE_KNOB_TYPE> {};

/// Keeps the first failure; everything after it does nothing until finalize()
/// or status() reports it.
class Descriptor {
public:
  Descriptor(const Library &library, cudnnBackendDescriptorType_t type);
  Descriptor(Descriptor &&other) noexcept;
  Descriptor &operator=(Descriptor &&other) noexcept;
  ~Descriptor();

  template <typename T>
  void set(cudnnBackendAttributeName_t name, std::span<const T> values) {
    note(library->setAttribute(handle, name, AttributeType<T>::kType,
                               static_cast<int64_t>(values.size()),
                               static_cast<const void *>(values.data())));
  }
  template <typename T> void set(cudnnBackendAttributeName_t name, T value) {
    set(name, std::span<const T>(&value, 1));
  }
  void set(cudnnBackendAttributeName_t name,
           const std::vector<int64_t> &values) {
    set(name, std::span<const int64_t>(values));
  }
  void set(cudnnBackendAttributeName_t name, const Descriptor &value);

  /// `what` it describes, for the message.
  Status finalize(std::string_view what);

  /// Up to `limit` values of an attribute.
  template <typename T>
  std::vector<T> get(cudnnBackendAttributeName_t name, size_t limit) {
    std::vector<T> values(limit);
    int64_t count = 0;
    note(library->getAttribute(handle, name, AttributeType<T>::kType,
                               static_cast<int64_t>(limit), &count,
                               values.data()));
    values.resize(firstFailure == CUDNN_STATUS_SUCCESS
                      ? std::min(limit, static_cast<size_t>(count))
                      : 0);
    return values;
  }
  /// Descriptors of kind `type` that an attribute holds.
  std::vector<Descriptor> getDescriptors(cudnnBackendAttributeName_t name,
                                         cudnnBackendDescriptorType_t type,
                                         size_t limit);

  Status status(std::string_view what) const {
    return toStatus(*library, firstFailure, what);
  }
  cudnnStatus_t failure() const { return firstFailure; }
  cudnnBackendDescriptor_t get() const { return handle; }

private:
  void note(cudnnStatus_t status) {
    if (firstFailure == CUDNN_STATUS_SUCCESS)
      firstFailure = status;
  }

  const Library *library;
  cudnnBackendDescriptor_t handle = nullptr;
  cudnnStatus_t firstFailure = CUDNN_STATUS_SUCCESS;
};

} // namespace halftone::runtime::cudnn
