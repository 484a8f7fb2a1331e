// SPDX-License-Identifier: Apache-2.0
// From a problem to an operation graph, its engines, and a plan.
#include "runtime/libs/cudnn/ConvolutionPlan.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace halftone::runtime::cudnn {
namespace {

using Direction = Convolution::Direction;

/// Engines that want more are passed over.
constexpr int64_t kMaxWorkspace = int64_t{1} << 30;
constexpr size_t kMaxOffers = 64;

cudnnDataType_t dataType(ElementType type) {
  return type == ElementType::F16    ? CUDNN_DATA_HALF
         : type == ElementType::BF16 ? CUDNN_DATA_BFLOAT16
                                     : CUDNN_DATA_FLOAT;
}

Result<Descriptor> describeTensor(const Library &library, const Tensor &tensor,
                                  Role role) {
  Descriptor d(library, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, dataType(tensor.type));
  d.set(CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.sizes);
  d.set(CUDNN_ATTR_TENSOR_STRIDES, tensor.strides);
  d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<int64_t>(role));
  d.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, tensor.alignment);
  HALFTONE_RETURN_IF_ERROR(d.finalize("describing a tensor"));
  return d;
}

Result<Descriptor> describeConvolution(const Library &library,
                                       const Problem &p) {
  Descriptor d(library, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  d.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  d.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  d.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
        static_cast<int64_t>(p.strides.size()));
  d.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, p.strides);
  d.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, p.padsBegin);
  d.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, p.padsEnd);
  d.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, p.dilations);
  HALFTONE_RETURN_IF_ERROR(d.finalize("describing a convolution"));
  return d;
}

/// The names that one direction's operation gives its parts.
struct OperationNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t convolution, alpha, beta;
  std::array<cudnnBackendAttributeName_t, 3> tensors; ///< By Role.
};

OperationNames namesOf(Direction direction) {
  if (direction == Direction::Forward)
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
            {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y}};
  if (direction == Direction::DataGradient)
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
            {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY}};
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
          {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY}};
}

/// The graph, last, and all it is made of.
Result<std::vector<Descriptor>> describeGraph(const Library &library,
                                              cudnnHandle_t handle,
                                              const Problem &problem) {
  OperationNames names = namesOf(problem.direction);
  std::vector<Descriptor> parts;
  auto convolution = describeConvolution(library, problem);
  HALFTONE_RETURN_IF_ERROR(convolution);
  Descriptor operation(library, names.type);
  operation.set(names.convolution, *convolution);
  parts.push_back(std::move(*convolution));
  operation.set(names.alpha, 1.0f);
  operation.set(names.beta, 0.0f);
  for (Role role : {X, W, Y}) {
    auto tensor = describeTensor(library, problem.tensors[role], role);
    HALFTONE_RETURN_IF_ERROR(tensor);
    operation.set(names.tensors[role], *tensor);
    parts.push_back(std::move(*tensor));
  }
  HALFTONE_RETURN_IF_ERROR(operation.finalize("describing a convolution step"));
  Descriptor graph(library, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  HALFTONE_RETURN_IF_ERROR(graph.finalize("describing a convolution graph"));
  parts.push_back(std::move(operation));
  parts.push_back(std::move(graph));
  return parts;
}

/// Whether an engine only says that it does not serve the problem, which is
/// common, and not that something is wrong with cuDNN, the driver or the GPU.
bool isPlainRefusal(cudnnStatus_t status) {
  switch (status) {
  case CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER:
  case CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART:
  case CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING:
  case CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE:
    return false;
  default:
    return status == CUDNN_STATUS_SUCCESS ||
           (status >= CUDNN_STATUS_NOT_SUPPORTED &&
            status < CUDNN_STATUS_INTERNAL_ERROR);
  }
}

/// Why no plan came about, for the message.
struct Search {
  size_t offered = 0;
  Status trouble; ///< The first that is no plain refusal.

  void note(const Descriptor &descriptor, std::string_view what) {
    if (trouble.ok() && !isPlainRefusal(descriptor.failure()))
      trouble = descriptor.status(what);
  }
  Status status(const Library &library) const {
    std::string remedy(kNoEngine);
    if (!trouble.ok())
      remedy = trouble.message();
    else if (offered == 0)
      remedy = kBrokenInstallation;
    return unsupported(fmt::format("cuDNN {} has no exact and repeatable "
                                   "engine for this convolution (of {} "
                                   "offered); {}",
                                   library.version, offered, remedy));
  }
};

/// The plan of an engine's configuration and the bytes it wants; none where it
/// does not build or wants too many.
std::optional<std::pair<Descriptor, uint64_t>> planOf(const Library &library,
                                                      cudnnHandle_t handle,
                                                      const Descriptor &config,
                                                      Search &search) {
  Descriptor plan(library, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  if (!plan.finalize("").ok()) {
    search.note(plan, "building an engine's plan");
    return std::nullopt;
  }
  auto bytes = plan.get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 1);
  search.note(plan, "asking for a plan's workspace");
  if (bytes.size() != 1 || bytes[0] < 0 || bytes[0] > kMaxWorkspace)
    return std::nullopt;
  return std::pair(std::move(plan), static_cast<uint64_t>(bytes[0]));
}

} // namespace

bool isAllowed(const EngineConfig &config, const Problem &problem) {
  return isExact(config, problem) && !races(config, problem);
}

Result<std::shared_ptr<ConvolutionPlan>>
buildPlan(const Library &library, cudnnHandle_t handle, const Problem &problem,
          const std::function<EngineFilter> &filter) {
  auto parts = describeGraph(library, handle, problem);
  HALFTONE_RETURN_IF_ERROR(parts);
  Search search;
  for (cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    Descriptor heuristics(library, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, parts->back());
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
    std::vector<Descriptor> offers;
    if (heuristics.finalize("").ok())
      offers = heuristics.getDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                         CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                         kMaxOffers);
    search.note(heuristics, "asking for engines");
    for (Descriptor &offer : offers) {
      ++search.offered;
      auto config = readEngineConfig(offer);
      search.note(offer, "asking about an engine");
      if (!config.ok() || !filter(*config, problem))
        continue;
      auto plan = planOf(library, handle, offer, search);
      if (!plan)
        continue;
      parts->push_back(std::move(offer));
      parts->push_back(std::move(plan->first));
      return std::make_shared<ConvolutionPlan>(
          ConvolutionPlan{std::move(*parts), plan->second, std::move(*config)});
    }
  }
  return search.status(library);
}

} // namespace halftone::runtime::cudnn
