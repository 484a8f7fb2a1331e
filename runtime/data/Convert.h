// SPDX-License-Identifier: Apache-2.0
// The conversions that data may undergo between a file and a plan's input. All
// others are refused.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/data/HostArray.h"

namespace halftone::runtime {

/// Whether elements of `from` can become `to`: equal types, float64 to float32,
/// int32 to and from int64, uint8 to float32.
bool isConvertible(DataType from, ElementType to);

/// Converts `count` elements; neither side needs to be aligned. The types must
/// be convertible and the values fit.
void convertElements(DataType from, const std::byte *source, ElementType to,
                     std::byte *destination, uint64_t count);

/// One element of any integer or bool type.
int64_t integerAt(const HostArray &array, uint64_t index);
bool isInteger(DataType type);

/// Any float array (16, 32 or 64 bits) as float32 values, rounded once.
std::vector<float> toFloats(const HostArray &array);

} // namespace halftone::runtime
