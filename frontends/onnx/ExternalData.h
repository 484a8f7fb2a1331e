// SPDX-License-Identifier: Apache-2.0
// Tensor data in files beside the model. A model may only read inside its own
// folder.
#pragma once
#include "frontends/onnx/Diagnostics.h"
#include "onnx/onnx_pb.h"
#include <map>
#include <string>

namespace halftone::onnx_frontend {

class ExternalData {
public:
  enum class Status { Read, Missing, Refused };

  ExternalData(std::string folder, DiagnosticLog &log)
      : folder(std::move(folder)), log(log) {}

  /// Reads the `size` bytes of `tensor` into `bytes`. Missing: the file is not
  /// there; reportMissing() tells of these together. Refused: an error was
  /// logged (a path outside the folder, no regular file, too short, bad offset
  /// or length).
  Status read(const onnx::TensorProto &tensor, uint64_t size,
              std::string &bytes);

  /// To be called for a tensor that cannot do without its data.
  void noteMissing(const onnx::TensorProto &tensor);
  /// One error for each missing file, naming the tensors in it.
  void reportMissing();

private:
  Status refuse(const onnx::TensorProto &tensor, const llvm::Twine &why);

  std::string folder;
  DiagnosticLog &log;
  std::map<std::string, std::vector<std::string>> missing;
};

} // namespace halftone::onnx_frontend
