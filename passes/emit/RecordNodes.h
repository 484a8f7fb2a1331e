// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/graph/GraphDialect.h"
#include "runtime/plan/plan.pb.h"

namespace halftone::passes {

/// Writes one entry for each op of a coloured program (before fusion) into the
/// plan, and one for each cast between floats. Names are the ONNX nodes';
/// backward and optimizer ops that share one are numbered.
void recordNodes(graph::ProgramOp program, proto::Plan &plan);

/// "fp32", "fp16", "bf16", or the integer type's name.
std::string typeName(mlir::Type elementType);

} // namespace halftone::passes
