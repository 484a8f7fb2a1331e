// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/ModelFile.h"
#include "google/protobuf/io/coded_stream.h"
#include <climits>
#include <filesystem>
#include <fstream>

namespace halftone::onnx_frontend {
namespace {

constexpr char kExport[] = "export the module with `tools/export_torch.py`, or "
                           "with `torch.onnx.export(module, batch, "
                           "\"model.onnx\", dynamo=True, optimize=False)`";
constexpr char kConvert[] = "convert it with tf2onnx first";

struct ForeignFormat {
  llvm::StringRef what, remedy, more = "";
};

/// What the first bytes say the file is; null if nothing known.
std::optional<ForeignFormat> foreignFormat(llvm::StringRef bytes) {
  if (bytes.starts_with("PK\x03\x04"))
    return {{"a zip archive, most likely a PyTorch file (.pt, .pth)", kExport}};
  if (bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
    return {{"a Python pickle, most likely an old PyTorch file (.pt, .pth)",
             kExport}};
  // Safetensors: the header's length in 8 bytes, then JSON.
  if (bytes.size() > 9 && bytes[8] == '{' &&
      bytes.substr(4, 4) == llvm::StringRef("\0\0\0\0", 4))
    return {{"a safetensors file, which holds weights but no graph", kExport,
             ", then give the weights with --weights"}};
  if (bytes.starts_with("GGUF"))
    return {{"a GGUF file, which holds weights but no graph", kExport}};
  if (bytes.starts_with("\x89HDF"))
    return {{"an HDF5 file (Keras?)", kConvert}};
  if (bytes.size() > 8 && bytes.substr(4, 4) == "TFL3")
    return {{"a TensorFlow Lite file", kConvert}};
  if (bytes.starts_with("version https://git-lfs"))
    return {{"only a Git LFS pointer",
             "fetch the file itself with `git lfs pull`"}};
  return std::nullopt;
}

} // namespace

std::optional<std::string> readFile(const std::string &path,
                                    DiagnosticLog &log) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    log.error("there is no file '" + path + "'");
    return std::nullopt;
  }
  if (std::filesystem::is_directory(path, ignored)) {
    log.error("'" + path + "' is a folder: give the .onnx file in it");
    return std::nullopt;
  }
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (size < 0) {
    log.error("cannot read '" + path + "'");
    return std::nullopt;
  }
  std::string bytes(static_cast<size_t>(size), '\0');
  in.seekg(0);
  if (!in.read(bytes.data(), size)) {
    log.error("cannot read '" + path + "'");
    return std::nullopt;
  }
  return bytes;
}

std::unique_ptr<onnx::ModelProto> parseModel(llvm::StringRef bytes,
                                             DiagnosticLog &log) {
  if (bytes.empty()) {
    log.error("the file is empty");
    return nullptr;
  }
  if (auto foreign = foreignFormat(bytes)) {
    log.error("the file is " + foreign->what + ": " + foreign->remedy +
              foreign->more);
    return nullptr;
  }
  if (bytes.size() > INT_MAX) {
    log.error("the file is larger than the 2 GiB that Protobuf can read: "
              "export it with external data");
    return nullptr;
  }
  auto model = std::make_unique<onnx::ModelProto>();
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t *>(bytes.data()),
      static_cast<int>(bytes.size()));
  stream.SetTotalBytesLimit(INT_MAX);
  if (!model->ParseFromCodedStream(&stream) ||
      !stream.ConsumedEntireMessage()) {
    log.error("the file is no ONNX model, or it is truncated or damaged: "
              "Protobuf cannot parse its " +
              std::to_string(bytes.size()) + " bytes");
    return nullptr;
  }
  if (!model->has_graph() ||
      (model->graph().node().empty() && model->graph().output().empty())) {
    log.error("the file holds no ONNX graph");
    return nullptr;
  }
  return model;
}

} // namespace halftone::onnx_frontend
