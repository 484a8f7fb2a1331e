// SPDX-License-Identifier: Apache-2.0
// Kernels written by hand for every target: the code of a module by name.
#pragma once

#include <cstdint>
#include <string>

namespace halftone::runtime::test {

/// PTX and bitcode behind kernelCode; bitcode only in builds with the CPU
/// device.
std::string ptxCode(const std::string &name, int64_t count);
std::string bitcode(const std::string &name);

/// Kernel code for "cpu" (bitcode) or "cuda" (PTX, for `count` elements).
///   "axpy":  out[i] = 0.1f * x[i] + y[i], two roundings; buffers x, y, out
///   "increment": x[i] += 1, in place; buffer x
///   "missing": calls a function that nobody defines
///   "half": out[i] = half(float(x[i]) * 0.3f); "bfloat": the same
///   "row_sum" (cpu): out[i] = the sum of 64 elements of row i, in order
///   "exp" (cpu): out[i] = expf(x[i])
std::string kernelCode(const std::string &target, const std::string &name,
                       int64_t count);

} // namespace halftone::runtime::test
