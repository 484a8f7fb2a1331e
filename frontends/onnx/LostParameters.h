// SPDX-License-Identifier: Apache-2.0
// Compares the parameters of a file with those that its PyTorch module had.
#pragma once
#include "frontends/onnx/Diagnostics.h"
#include "frontends/onnx/InitializerUses.h"
#include "frontends/onnx/Weights.h"

namespace halftone::onnx_frontend {

/// Warns of parameters that the exporter folded away. A name that is missing
/// because its parameter is tied to another one becomes an alias of that one.
/// `constants` are the float initializers that do not train.
void reportLostParameters(const onnx::GraphProto &graph,
                          const InitializerUses &uses, WeightStore &weights,
                          llvm::ArrayRef<std::string> constants,
                          DiagnosticLog &log);

} // namespace halftone::onnx_frontend
