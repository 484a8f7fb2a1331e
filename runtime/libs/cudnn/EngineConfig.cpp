// SPDX-License-Identifier: Apache-2.0
// cuDNN tells of rounding and repeatability in notes. What it does not tell was
// found by running every engine (tests/device/CudnnEnginesTest.cpp) and is
// listed here; numbers are cuDNN 9.19's, figures in
// docs/benchmarks/h200-engines.json.
#include "runtime/libs/cudnn/EngineConfig.h"

#include <algorithm>
#include <fmt/format.h>

namespace halftone::runtime::cudnn {
namespace {

bool isExact(cudnnBackendNumericalNote_t note, const Problem &problem) {
  switch (note) {
  case CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP:
    return true;
  case CUDNN_NUMERICAL_NOTE_TENSOR_CORE: {
    // Tensor cores take float32 operands as TF32.
    Role result = problem.result();
    for (Role role : {X, W, Y})
      if (role != result && problem.tensors[role].type == ElementType::F32 &&
          !problem.tf32 && !problem.fitsTf32)
        return false;
    return true;
  }
  case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
    return problem.tf32;
  default:
    return false;
  }
}

/// Adds the parts of a divided sum in bfloat16, where the result is bfloat16:
/// up to five roundings' worth of error.
bool roundsParts(const EngineConfig &config, const Problem &problem) {
  return problem.direction == Convolution::Direction::WeightGradient &&
         config.engine == 47;
}

} // namespace

std::string EngineConfig::name() const {
  std::string text = fmt::format("eng{}", engine);
  for (auto [knob, value] : knobs)
    text += fmt::format("_k{}={}", static_cast<int>(knob), value);
  return text;
}

Result<EngineConfig> readEngineConfig(Descriptor &offer) {
  constexpr std::string_view kWhat = "asking about an engine";
  EngineConfig config;
  std::vector<Descriptor> engines = offer.getDescriptors(
      CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  for (Descriptor &engine : engines) {
    config.notes = engine.get<cudnnBackendNumericalNote_t>(
        CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
    for (int64_t index : engine.get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 1))
      config.engine = index;
    HALFTONE_RETURN_IF_ERROR(engine.status(kWhat));
  }
  for (Descriptor &choice : offer.getDescriptors(
           CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
           CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    auto knob =
        choice.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, 1);
    auto value = choice.get<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 1);
    HALFTONE_RETURN_IF_ERROR(choice.status(kWhat));
    if (!knob.empty() && !value.empty())
      config.knobs[knob[0]] = value[0];
  }
  HALFTONE_RETURN_IF_ERROR(offer.status(kWhat));
  if (config.engine < 0)
    return unsupported("cuDNN offers a configuration without an engine");
  return config;
}

bool isExact(const EngineConfig &config, const Problem &problem) {
  auto exact = [&](cudnnBackendNumericalNote_t note) {
    return isExact(note, problem);
  };
  return std::ranges::all_of(config.notes, exact) &&
         !roundsParts(config, problem);
}

/// An engine for data gradients on sm_90, strided ones above all, has kernels
/// of one warp group and of two, by tile. In every one of one warp group
/// compute-sanitizer's racecheck finds shared memory read that is not ordered
/// behind its write; in those of two it finds nothing.
bool races(const EngineConfig &config, const Problem &problem) {
  constexpr int64_t kStridedSm90 = 73;
  // 256x128, 128x256 and 256x32, of two warp groups.
  constexpr std::array<int64_t, 3> kOrderedTiles{3, 6, 16};
  if (problem.direction != Convolution::Direction::DataGradient ||
      config.engine != kStridedSm90)
    return false;
  auto tile = config.knobs.find(CUDNN_KNOB_TYPE_TILE_SIZE);
  return tile == config.knobs.end() ||
         std::ranges::find(kOrderedTiles, tile->second) == kOrderedTiles.end();
}

} // namespace halftone::runtime::cudnn
