// SPDX-License-Identifier: Apache-2.0
// What the executables of all devices have in common: every step of the
// programs that are to run becomes a call with its addresses bound, once.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/libs/StepGeometry.h"

#include <array>
#include <fmt/format.h>

namespace halftone::runtime {

struct CopyCall {
  void *destination;
  const void *source; ///< May be `destination`.
  uint64_t bytes;
};

/// `Call` is what a device makes of a step; a CopyCall converts to it.
template <typename Call> class StepExecutable : public Executable {
protected:
  /// `arenas` as Device::prepare takes them.
  StepExecutable(std::shared_ptr<const Plan> plan, std::vector<void *> arenas)
      : plan(std::move(plan)), arenas(std::move(arenas)) {}

  /// Makes the calls; a failure names the step's node.
  Status prepareSteps(const std::vector<ProgramKind> &kinds) {
    for (ProgramKind kind : kinds)
      for (const Step &step : plan->program(kind).steps) {
        auto call = prepareStep(step);
        HALFTONE_RETURN_IF_ERROR(withContext(step.node, call.status()));
        calls(kind).push_back(std::move(*call));
      }
    return {};
  }

  /// `buffers` holds the addresses of a kernel's arguments, inputs first.
  virtual Result<Call> prepareLaunch(uint32_t kernel,
                                     std::vector<void *> buffers) = 0;
  virtual Result<Call> prepareMatMul(const MatMulGeometry &geometry,
                                     const MatMulAddresses &addresses) = 0;
  virtual Result<Call>
  prepareConvolution(const ConvolutionGeometry &geometry,
                     const ConvolutionAddresses &addresses) = 0;

  std::vector<Call> &calls(ProgramKind kind) {
    return programs[static_cast<size_t>(kind)];
  }
  /// Refuses steps that the program does not have.
  Status checkRange(ProgramKind kind, size_t begin, size_t end) {
    size_t count = calls(kind).size();
    if (begin > end || end > count)
      return failed(fmt::format("steps {} to {} of {} were asked for", begin,
                                end, count));
    return {};
  }

  const std::shared_ptr<const Plan> plan;
  std::array<std::vector<Call>, 2> programs;

private:
  void *address(uint32_t buffer) const {
    const Buffer &b = plan->buffers[buffer];
    auto *base = static_cast<std::byte *>(arenas[b.arena]);
    return base ? base + b.offset : nullptr;
  }

  Result<Call> prepareStep(const Step &step) {
    if (std::holds_alternative<MatMul>(step.kind)) {
      auto g = matmulGeometry(*plan, step);
      HALFTONE_RETURN_IF_ERROR(g);
      return prepareMatMul(*g, {address(g->a), address(g->b),
                                g->bias ? address(*g->bias) : nullptr,
                                address(g->c)});
    }
    if (std::holds_alternative<Convolution>(step.kind)) {
      auto g = convolutionGeometry(*plan, step);
      HALFTONE_RETURN_IF_ERROR(g);
      return prepareConvolution(*g,
                                {address(g->x), address(g->w), address(g->y)});
    }
    if (std::holds_alternative<Copy>(step.kind)) {
      auto bytes = copyBytes(*plan, step);
      HALFTONE_RETURN_IF_ERROR(bytes);
      return Call(
          CopyCall{address(step.outputs[0]), address(step.inputs[0]), *bytes});
    }
    std::vector<void *> buffers;
    for (const auto *list : {&step.inputs, &step.outputs})
      for (uint32_t buffer : *list)
        buffers.push_back(address(buffer));
    return prepareLaunch(std::get<Launch>(step.kind).kernel,
                         std::move(buffers));
  }

  const std::vector<void *> arenas;
};

} // namespace halftone::runtime
