// SPDX-License-Identifier: Apache-2.0
// Small arrays for tests.
#pragma once

#include "runtime/data/HostArray.h"

#include <cstring>

namespace halftone::test {

template <typename T>
runtime::HostArray arrayOf(runtime::DataType type, runtime::Shape shape,
                           const std::vector<T> &values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return runtime::makeArray(type, std::move(shape), std::move(bytes));
}

inline runtime::HostArray floats(runtime::Shape shape,
                                 const std::vector<float> &values) {
  return arrayOf(runtime::DataType::F32, std::move(shape), values);
}

inline runtime::HostArray integers(runtime::Shape shape,
                                   const std::vector<int64_t> &values) {
  return arrayOf(runtime::DataType::I64, std::move(shape), values);
}

} // namespace halftone::test
