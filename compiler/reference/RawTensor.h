// SPDX-License-Identifier: Apache-2.0
// Between the bytes that a device stores and HostTensors.
#pragma once
#include "compiler/interfaces/HostTensor.h"
#include <cstddef>

namespace halftone::reference {

/// Bytes of one stored element: floats by their width, i1 one byte; nullopt for
/// types that are never stored.
std::optional<size_t> storedSize(mlir::Type elementType);

/// Reads row-major little-endian elements; fails where the number of bytes or
/// the element type does not fit.
llvm::FailureOr<HostTensor> decodeRaw(mlir::RankedTensorType type,
                                      llvm::ArrayRef<std::byte> bytes);

/// The inverse; floats are rounded to the element type.
llvm::FailureOr<std::vector<std::byte>> encodeRaw(const HostTensor &tensor);

} // namespace halftone::reference
