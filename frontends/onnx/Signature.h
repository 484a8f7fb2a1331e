// SPDX-License-Identifier: Apache-2.0
// What a file says about the PyTorch module that it was exported from.
#pragma once
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace halftone::onnx_frontend {

/// The target names of the module's parameters, from the graph's metadata;
/// empty where the file has no signature.
std::vector<std::string> signatureParameters(const onnx::GraphProto &graph);

/// The path of the module that a node belongs to, outermost first ("m",
/// "m.encoder", ...): from PyTorch's metadata, else from a node name of the
/// TorchScript exporter ("/m/encoder/Gemm").
std::vector<std::string> moduleScopes(const onnx::NodeProto &node);

} // namespace halftone::onnx_frontend
