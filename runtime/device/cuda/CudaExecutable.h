// SPDX-License-Identifier: Apache-2.0
// A plan ready to run on a GPU: kernels loaded, library calls prepared,
// addresses bound.
#pragma once

#include "runtime/device/cuda/CudaContext.h"
#include "runtime/device/cuda/KernelModules.h"
#include "runtime/device/cuda/RecordedRanges.h"
#include "runtime/libs/cublaslt/MatMulCall.h"
#include "runtime/libs/cudnn/ConvolutionCall.h"

#include <variant>

namespace halftone::runtime::cuda {

/// How programs run. From the environment: HALFTONE_CUDA_DEBUG=1 waits after
/// every step and names the one that failed; HALFTONE_CUDA_GRAPHS=0 queues
/// every step anew.
struct RunMode {
  bool stepwise = false;
  bool graphs = true;

  static RunMode fromEnvironment();
};

class CudaExecutable final : public Executable {
public:
  /// `arenas` as Device::prepare takes them. `device` gives the workspace of
  /// library calls and outlives the result, as does `context`.
  static Result<std::unique_ptr<Executable>>
  prepare(Device &device, CudaContext &context,
          std::shared_ptr<const Plan> plan, std::vector<void *> arenas);
  ~CudaExecutable() override;

  /// A range of several steps is queued step by step the first time, recorded
  /// into a graph the second time, and replayed from then on.
  Status run(ProgramKind program, size_t begin, size_t end) override;

private:
  struct KernelCall {
    CUfunction function;
    const Kernel *kernel;
    std::vector<void *> buffers;
  };
  struct CopyCall {
    void *destination;
    const void *source;
    uint64_t bytes;
  };
  using Call = std::variant<std::monostate, KernelCall, CopyCall,
                            std::unique_ptr<cublaslt::MatMulCall>,
                            std::unique_ptr<cudnn::ConvolutionCall>>;

  CudaExecutable(CudaContext &context, std::shared_ptr<const Plan> plan,
                 std::vector<void *> arenas)
      : context(context), plan(std::move(plan)), arenas(std::move(arenas)) {}

  void *address(uint32_t buffer) const;
  Status prepareProgram(ProgramKind kind);
  Result<Call> prepareStep(const Step &step);
  Result<Call> prepareLaunch(const Step &step);
  Result<Call> prepareMatMul(const Step &step);
  Result<Call> prepareConvolution(const Step &step);
  Result<Call> prepareCopy(const Step &step);
  Status bindWorkspace(Device &device);
  Status queueSteps(ProgramKind program, size_t begin, size_t end);
  Status queue(Call &call);
  Status launch(KernelCall &call);
  /// The failure of earlier work where there was one, else `failure`.
  Status explained(Status failure);

  CudaContext &context;
  std::shared_ptr<const Plan> plan;
  std::vector<void *> arenas;
  RunMode mode = RunMode::fromEnvironment();
  KernelModules kernels;
  std::unique_ptr<cublaslt::Handle> products;
  std::unique_ptr<cudnn::Handle> convolutions;
  std::array<std::vector<Call>, 2> programs;
  Memory workspace; ///< Shared by all library calls: they run in one stream.
  RecordedRanges recorded;
};

} // namespace halftone::runtime::cuda
