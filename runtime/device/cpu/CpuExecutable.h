// SPDX-License-Identifier: Apache-2.0
// A plan ready to run on the CPU: kernels compiled, library calls prepared,
// addresses bound.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cpu/KernelLibrary.h"
#include "runtime/libs/onednn/OneDnn.h"

#include <array>
#include <variant>

namespace halftone::runtime::cpu {

class CpuExecutable final : public Executable {
public:
  /// `arenas` as Device::prepare takes them. `device` gives the scratch memory
  /// of library calls and outlives the result.
  static Result<std::unique_ptr<Executable>>
  prepare(Device &device, std::shared_ptr<const Plan> plan,
          std::vector<void *> arenas);

  /// Runs the steps before it returns.
  Status run(ProgramKind program, size_t begin, size_t end) override;

private:
  struct KernelCall {
    KernelFunction function;
    std::vector<void *> buffers;
    int64_t workItems, grain;
  };
  struct CopyCall {
    void *destination;
    const void *source;
    uint64_t bytes;
  };
  using Call =
      std::variant<KernelCall, CopyCall, std::unique_ptr<onednn::LibraryCall>>;

  CpuExecutable(std::shared_ptr<const Plan> plan, std::vector<void *> arenas)
      : plan(std::move(plan)), arenas(std::move(arenas)) {}

  void *address(uint32_t buffer) const;
  Status prepareProgram(ProgramKind kind);
  Result<Call> prepareStep(const Step &step) const;
  Result<Call> prepareMatMul(const Step &step) const;
  Result<Call> prepareConvolution(const Step &step) const;
  Result<Call> prepareCopy(const Step &step) const;
  Status bindScratch(Device &device);
  static Status runCall(Call &call);

  std::shared_ptr<const Plan> plan;
  std::vector<void *> arenas;
  std::unique_ptr<KernelLibrary> kernels;
  std::array<std::vector<Call>, 2> programs;
  Memory scratch; ///< Shared by all library calls, which run one at a time.
};

} // namespace halftone::runtime::cpu
