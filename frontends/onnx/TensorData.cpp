// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/TensorData.h"
#include "mlir/IR/Builders.h"
#include <bit>
#include <cstring>

using onnx::TensorProto;

namespace halftone::onnx_frontend {
namespace {

float halfToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16,
           exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent)
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  float small = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -small : small;
}

float bfloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

template <typename Stored, typename Out, typename Convert>
void fromRaw(llvm::StringRef raw, std::vector<Out> &out, Convert convert) {
  out.resize(raw.size() / sizeof(Stored));
  for (size_t i = 0; i < out.size(); ++i) {
    Stored value;
    std::memcpy(&value, raw.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = convert(value);
  }
}

void decodeRaw(llvm::StringRef raw, TensorContent &out) {
  auto toFloat = [](auto value) { return static_cast<float>(value); };
  auto toInt = [](auto value) { return static_cast<int64_t>(value); };
  switch (out.onnxType) {
  case TensorProto::FLOAT:
    out.floats.resize(raw.size() / sizeof(float));
    if (!raw.empty())
      std::memcpy(out.floats.data(), raw.data(), raw.size());
    return;
  case TensorProto::DOUBLE:
    return fromRaw<double>(raw, out.floats, toFloat);
  case TensorProto::FLOAT16:
    return fromRaw<uint16_t>(raw, out.floats, halfToFloat);
  case TensorProto::BFLOAT16:
    return fromRaw<uint16_t>(raw, out.floats, bfloat16ToFloat);
  case TensorProto::INT8:
    return fromRaw<int8_t>(raw, out.ints, toInt);
  case TensorProto::UINT8:
    return fromRaw<uint8_t>(raw, out.ints, toInt);
  case TensorProto::BOOL:
    return fromRaw<uint8_t>(raw, out.ints, [](uint8_t value) {
      return static_cast<int64_t>(value != 0);
    });
  case TensorProto::INT16:
    return fromRaw<int16_t>(raw, out.ints, toInt);
  case TensorProto::INT32:
    return fromRaw<int32_t>(raw, out.ints, toInt);
  default:
    return fromRaw<int64_t>(raw, out.ints, toInt);
  }
}

/// Data in the typed fields of the message.
void decodeFields(const TensorProto &tensor, TensorContent &out) {
  switch (out.onnxType) {
  case TensorProto::FLOAT:
    out.floats.assign(tensor.float_data().begin(), tensor.float_data().end());
    return;
  case TensorProto::DOUBLE:
    out.floats.assign(tensor.double_data().begin(), tensor.double_data().end());
    return;
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    for (int32_t bits : tensor.int32_data())
      out.floats.push_back(out.onnxType == TensorProto::FLOAT16
                               ? halfToFloat(static_cast<uint16_t>(bits))
                               : bfloat16ToFloat(static_cast<uint16_t>(bits)));
    return;
  case TensorProto::INT64:
    out.ints.assign(tensor.int64_data().begin(), tensor.int64_data().end());
    return;
  case TensorProto::BOOL:
    for (int32_t value : tensor.int32_data())
      out.ints.push_back(value != 0);
    return;
  default:
    out.ints.assign(tensor.int32_data().begin(), tensor.int32_data().end());
    return;
  }
}

} // namespace

std::string typeName(int32_t onnxType) {
  if (!TensorProto::DataType_IsValid(onnxType))
    return "type " + std::to_string(onnxType);
  return llvm::StringRef(TensorProto::DataType_Name(
                             static_cast<TensorProto::DataType>(onnxType)))
      .lower();
}

bool isFloatType(int32_t onnxType) {
  return onnxType == TensorProto::FLOAT || onnxType == TensorProto::DOUBLE ||
         isHalfType(onnxType);
}

bool isHalfType(int32_t onnxType) {
  return onnxType == TensorProto::FLOAT16 || onnxType == TensorProto::BFLOAT16;
}

mlir::Type elementType(mlir::MLIRContext *context, int32_t onnxType) {
  mlir::Builder b(context);
  if (isFloatType(onnxType))
    return b.getF32Type();
  switch (onnxType) {
  case TensorProto::BOOL:
    return b.getI1Type();
  case TensorProto::INT8:
    return b.getIntegerType(8);
  case TensorProto::UINT8:
    return b.getIntegerType(8, /*isSigned=*/false);
  case TensorProto::INT16:
    return b.getIntegerType(16);
  case TensorProto::INT32:
    return b.getI32Type();
  case TensorProto::INT64:
    return b.getI64Type();
  default:
    return {};
  }
}

unsigned elementBytes(int32_t onnxType) {
  switch (onnxType) {
  case TensorProto::BOOL:
  case TensorProto::INT8:
  case TensorProto::UINT8:
    return 1;
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
  case TensorProto::INT16:
    return 2;
  case TensorProto::FLOAT:
  case TensorProto::INT32:
    return 4;
  case TensorProto::DOUBLE:
  case TensorProto::INT64:
    return 8;
  default:
    return 0;
  }
}

bool canBeStored(int32_t onnxType) {
  return elementBytes(onnxType) != 0 && onnxType != TensorProto::INT16;
}

std::optional<int64_t> checkedSize(llvm::ArrayRef<int64_t> shape) {
  constexpr int64_t kMost = int64_t(1) << 40;
  int64_t size = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && size > kMost / extent))
      return std::nullopt;
    size *= extent;
  }
  return size;
}

std::optional<TensorContent> decodeTensor(const TensorProto &tensor,
                                          ExternalData &external,
                                          DiagnosticLog &log) {
  auto refuse = [&](const llvm::Twine &why) {
    log.error("tensor '" + tensor.name() + "' " + why);
    return std::nullopt;
  };
  TensorContent out;
  out.onnxType = tensor.data_type();
  out.shape.assign(tensor.dims().begin(), tensor.dims().end());
  unsigned bytes = elementBytes(out.onnxType);
  if (!bytes)
    return refuse("has the element type " + typeName(out.onnxType) +
                  ", which is not supported");
  std::optional<int64_t> size = checkedSize(out.shape);
  if (!size)
    return refuse("has an impossible shape");
  uint64_t wanted = static_cast<uint64_t>(*size) * bytes;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    std::string raw;
    ExternalData::Status status = external.read(tensor, wanted, raw);
    if (status == ExternalData::Status::Refused)
      return std::nullopt;
    out.missing = status == ExternalData::Status::Missing;
    decodeRaw(raw, out);
    return out;
  }
  if (tensor.has_raw_data()) {
    if (tensor.raw_data().size() != wanted)
      return refuse("holds " + std::to_string(tensor.raw_data().size()) +
                    " bytes, its shape and type need " +
                    std::to_string(wanted));
    decodeRaw(tensor.raw_data(), out);
  } else {
    decodeFields(tensor, out);
    size_t found = std::max(out.floats.size(), out.ints.size());
    if (found != static_cast<size_t>(*size))
      return refuse("holds " + std::to_string(found) +
                    " elements, its shape needs " + std::to_string(*size));
  }
  return out;
}

HostTensor toHostTensor(mlir::MLIRContext *context,
                        const TensorContent &content) {
  HostTensor tensor(mlir::RankedTensorType::get(
      content.shape, elementType(context, content.onnxType)));
  if (tensor.isFloat())
    tensor.floats.assign(content.floats.begin(), content.floats.end());
  else
    tensor.ints = content.ints;
  return tensor;
}

} // namespace halftone::onnx_frontend
