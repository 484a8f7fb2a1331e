// SPDX-License-Identifier: Apache-2.0
// A plan ready to run on the CPU: kernels compiled, library calls prepared,
// addresses bound.
#pragma once

#include "runtime/device/StepExecutable.h"
#include "runtime/device/cpu/KernelLibrary.h"
#include "runtime/libs/onednn/OneDnn.h"

#include <variant>

namespace halftone::runtime::cpu {

struct KernelCall {
  KernelFunction function;
  std::vector<void *> buffers;
  int64_t workItems, grain;
};
using Call =
    std::variant<KernelCall, CopyCall, std::unique_ptr<onednn::LibraryCall>>;

class CpuExecutable final : public StepExecutable<Call> {
public:
  /// `arenas` as Device::prepare takes them. `device` gives the scratch memory
  /// of library calls and outlives the result.
  static Result<std::unique_ptr<Executable>>
  prepare(Device &device, std::shared_ptr<const Plan> plan,
          std::vector<void *> arenas, const std::vector<ProgramKind> &kinds);

  /// Runs the steps before it returns.
  Status run(ProgramKind program, size_t begin, size_t end) override;

private:
  using StepExecutable::StepExecutable;

  Result<Call> prepareLaunch(uint32_t kernel,
                             std::vector<void *> buffers) override;
  Result<Call> prepareMatMul(const MatMulGeometry &geometry,
                             const MatMulAddresses &addresses) override;
  Result<Call>
  prepareConvolution(const ConvolutionGeometry &geometry,
                     const ConvolutionAddresses &addresses) override;
  Status bindScratch(Device &device);

  std::unique_ptr<KernelLibrary> kernels;
  Memory scratch; ///< Shared by all library calls, which run one at a time.
};

} // namespace halftone::runtime::cpu
