// SPDX-License-Identifier: Apache-2.0
// One convolution as a graph of cuDNN, and the engine chosen for it.
#pragma once

#include "runtime/libs/cudnn/EngineConfig.h"

#include <functional>
#include <memory>

namespace halftone::runtime::cudnn {

/// An executable plan; its tensors' ids are their roles.
struct ConvolutionPlan {
  /// What the plan was made from, so that it lasts as long; the plan is last.
  std::vector<Descriptor> parts;
  uint64_t workspaceBytes;
  EngineConfig engine;

  cudnnBackendDescriptor_t get() const { return parts.back().get(); }
};

using EngineFilter = bool(const EngineConfig &, const Problem &);

/// What plans use: exact, repeatable and free of races.
bool isAllowed(const EngineConfig &config, const Problem &problem);

/// Asks cuDNN's heuristics, and of the engines they offer takes the first that
/// `filter` lets pass and that builds. Fails (StatusCode::Unsupported) where
/// there is none.
Result<std::shared_ptr<ConvolutionPlan>>
buildPlan(const Library &library, cudnnHandle_t handle, const Problem &problem,
          const std::function<EngineFilter> &filter = isAllowed);

} // namespace halftone::runtime::cudnn
