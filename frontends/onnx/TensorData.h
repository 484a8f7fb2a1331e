// SPDX-License-Identifier: Apache-2.0
// ONNX element types and tensors in ours: every float type becomes f32.
#pragma once
#include "compiler/interfaces/HostTensor.h"
#include "frontends/onnx/ExternalData.h"

namespace halftone::onnx_frontend {

/// "float16", "int64", ...; "type 99" for an unknown number.
std::string typeName(int32_t onnxType);
bool isFloatType(int32_t onnxType);
/// float16 or bfloat16.
bool isHalfType(int32_t onnxType);

/// The IR's element type: f32 for float, float16, bfloat16 and double; integers
/// and bool their own. Null for what is not supported (strings, complex
/// numbers, float8, 4-bit, uint16 to uint64).
mlir::Type elementType(mlir::MLIRContext *context, int32_t onnxType);

/// Bytes of an element in raw data; 0 for unsupported types.
unsigned elementBytes(int32_t onnxType);

/// Whether an array of a plan can have the type; constants can have more.
bool canBeStored(int32_t onnxType);

/// Number of elements; nullopt where a dimension is negative or the product
/// exceeds 2^40.
std::optional<int64_t> checkedSize(llvm::ArrayRef<int64_t> shape);

/// What a tensor holds: `floats` for a float type, else `ints`.
struct TensorContent {
  llvm::SmallVector<int64_t> shape;
  int32_t onnxType = 0;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  /// Its external file is not there; both vectors are empty.
  bool missing = false;
};

/// Decodes inline and external data. nullopt and an error in `log` where type,
/// shape or data do not fit.
std::optional<TensorContent> decodeTensor(const onnx::TensorProto &tensor,
                                          ExternalData &external,
                                          DiagnosticLog &log);

/// The content (not missing) as a host tensor.
HostTensor toHostTensor(mlir::MLIRContext *context,
                        const TensorContent &content);

} // namespace halftone::onnx_frontend
