// SPDX-License-Identifier: Apache-2.0
// What must hold before a model is imported: versions, known operators, an
// order, ONNX's own checker; functions inlined.
#pragma once
#include "frontends/onnx/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_frontend {

/// IR 7 to the newest, opset 13 to 27, nothing but dense initializers.
bool verifyVersions(const onnx::ModelProto &model, DiagnosticLog &log);

/// Gives each nameless node, of the graph and of functions, the name
/// OPTYPE_INDEX.
void nameNodes(onnx::ModelProto &model);

/// Sorts the nodes topologically (stable) and drops those that no output needs.
/// Reports cycles and values that nothing produces.
bool orderNodes(onnx::ModelProto &model, DiagnosticLog &log);

/// Reports all operators, in the graph and in the functions it calls, that
/// cannot be imported, with the names of their nodes.
bool verifyOperators(mlir::MLIRContext *context, const onnx::ModelProto &model,
                     DiagnosticLog &log);

/// What is wrong, on one line: ONNX's texts end in a context of many lines, and
/// begin with the place in its sources where a condition was found not to hold.
std::string firstParagraph(const char *text);

/// ONNX's checker.
bool runChecker(const onnx::ModelProto &model, DiagnosticLog &log);

/// Replaces calls of local functions by their bodies; reports those that ONNX's
/// inliner leaves.
bool inlineFunctions(onnx::ModelProto &model, DiagnosticLog &log);

} // namespace halftone::onnx_frontend
