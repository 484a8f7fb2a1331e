// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the operators' `evaluate` methods: integers wrap around, as
// they do in the kernels, where C++ leaves an overflow undefined; floats are
// what they are.
#pragma once
#include <cstdint>
#include <type_traits>

namespace halftone::graph {

template <typename T> T wrappingAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

template <typename T> T wrappingSub(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else
    return a - b;
}

template <typename T> T wrappingMul(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

template <typename T> T wrappingNeg(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(-static_cast<uint64_t>(x));
  else
    return -x;
}

} // namespace halftone::graph
