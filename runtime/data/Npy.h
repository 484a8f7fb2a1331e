// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy format (versions 1 to 3 read, 1 written) and .npz archives of
// it.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/data/HostArray.h"

#include <filesystem>

namespace halftone::runtime {

/// Parses the content of a .npy file. The array points into `content`, which
/// `owner` keeps alive, unless it had to be put into row-major order. Refuses
/// objects, strings, records and big-endian numbers.
Result<HostArray> parseNpy(std::span<const std::byte> content,
                           std::shared_ptr<const void> owner);

/// The bytes before the data in a .npy file. The type must have an npy name.
std::string npyHeader(DataType type, const Shape &shape);

Result<HostArray> readNpy(const std::filesystem::path &path);
Result<ArrayMap> readNpz(const std::filesystem::path &path);

/// Writes an archive, uncompressed, at once or not at all. Arrays appear in the
/// map's order.
Status writeNpz(const std::filesystem::path &path, const ArrayMap &arrays);

} // namespace halftone::runtime
