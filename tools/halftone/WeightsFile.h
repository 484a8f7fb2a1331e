// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontends/onnx/Weights.h"
#include "runtime/base/Status.h"
#include "runtime/plan/plan.pb.h"
#include <filesystem>

namespace halftone::tools {

/// Writes the parameters that the plan names and does not draw, as float32
/// safetensors under their names, and records file name and hash in the plan.
/// Writes no file where all are drawn.
runtime::Status writeWeights(const onnx_frontend::WeightStore &weights,
                             const std::filesystem::path &path,
                             proto::Plan &plan);

} // namespace halftone::tools
