// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/graph/GraphDialect.h"
#include "frontends/onnx/Import.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_frontend {

/// Warns, once a kind, of nodes that an export in evaluation mode leaves and
/// that train otherwise than the module would: Dropout that is switched off,
/// and BatchNormalization that asks for its stored statistics. `graph` tells
/// who exported it: PyTorch's dynamo exporter writes the latter in train mode
/// too.
void reportEvaluationForm(graph::ProgramOp program,
                          const onnx::GraphProto &graph,
                          const ImportOptions &options, DiagnosticLog &log);

} // namespace halftone::onnx_frontend
