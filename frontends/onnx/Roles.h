// SPDX-License-Identifier: Apache-2.0
// Which initializers train, which are BatchNorm statistics, which are
// constants; ties; the warning of lost parameters.
#pragma once
#include "frontends/onnx/Import.h"
#include "frontends/onnx/Initializers.h"

namespace halftone::onnx_frontend {

/// An initializer that is a parameter under another name.
struct Tie {
  std::string parameter;
  /// Its data is the parameter's transpose.
  bool transposed = false;
};

struct Roles {
  /// Parameters and statistics, with their data (moved out of the
  /// initializers).
  WeightStore weights;
  llvm::StringMap<Tie> ties;
};

/// Decides the roles. `light` is the inlined model, whose nodes tell how
/// initializers are used. Initializers that become weights lose their data; all
/// others keep it. Says in `log` what was chosen and which parameters the
/// exporter lost.
Roles decideRoles(const onnx::ModelProto &light,
                  std::vector<Initializer> &initializers,
                  const ImportOptions &options, DiagnosticLog &log);

/// How PyTorch's exporter keeps every parameter; ends a sentence.
extern const char kExportAdvice[];

} // namespace halftone::onnx_frontend
