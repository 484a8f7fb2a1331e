// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontends/onnx/Diagnostics.h"
#include "google/protobuf/message.h"

namespace halftone::onnx_frontend {

/// Reports, once, every text of `model` that is no valid UTF-8, by its place
/// ("graph.node[3].name") and escaped. Documentation and tensors are not looked
/// at.
bool verifyText(const google::protobuf::Message &model, DiagnosticLog &log);

} // namespace halftone::onnx_frontend
