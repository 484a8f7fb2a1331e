// SPDX-License-Identifier: Apache-2.0
// Which output of a model could be its logits.
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::onnx_frontend {

struct OutputDescription {
  std::string name;
  mlir::RankedTensorType type;
  bool isFloat = false;
  /// "softmax", "log_softmax" or "sigmoid" where the output ends in one: the
  /// loss wants its input. Else empty.
  std::string activation;
  /// The value before the activation; the output itself without one.
  mlir::Value logits;
};

/// All outputs of a program, in order.
std::vector<OutputDescription> describeOutputs(graph::ProgramOp program);

} // namespace halftone::onnx_frontend
