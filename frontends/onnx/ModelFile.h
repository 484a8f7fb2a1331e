// SPDX-License-Identifier: Apache-2.0
// From a path to the protobuf message; tells what a file is that is no ONNX
// model.
#pragma once
#include "frontends/onnx/Diagnostics.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringRef.h"
#include <memory>

namespace halftone::onnx_frontend {

/// The file's bytes as a string; nullopt and an error in `log` where it cannot
/// be read.
std::optional<std::string> readFile(const std::string &path,
                                    DiagnosticLog &log);

/// Parses; null and an error in `log` where the bytes are no ONNX model.
std::unique_ptr<onnx::ModelProto> parseModel(llvm::StringRef bytes,
                                             DiagnosticLog &log);

} // namespace halftone::onnx_frontend
