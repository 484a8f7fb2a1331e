// SPDX-License-Identifier: Apache-2.0
// A plan ready to run on a GPU: kernels loaded, library calls prepared,
// addresses bound.
#pragma once

#include "runtime/device/StepExecutable.h"
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

struct KernelCall {
  CUfunction function;
  const Kernel *kernel;
  std::vector<void *> buffers;
};
/// Nothing is a step over no elements.
using Call = std::variant<std::monostate, KernelCall, CopyCall,
                          std::unique_ptr<cublaslt::MatMulCall>,
                          std::unique_ptr<cudnn::ConvolutionCall>>;

class CudaExecutable final : public StepExecutable<Call> {
public:
  /// `arenas` as Device::prepare takes them. `device` gives the workspace of
  /// library calls and outlives the result, as does `context`.
  static Result<std::unique_ptr<Executable>>
  prepare(Device &device, CudaContext &context,
          std::shared_ptr<const Plan> plan, std::vector<void *> arenas,
          const std::vector<ProgramKind> &kinds);
  ~CudaExecutable() override;

  /// A range of several steps is queued step by step the first time, recorded
  /// into a graph the second time, and replayed from then on.
  Status run(ProgramKind program, size_t begin, size_t end) override;

private:
  CudaExecutable(CudaContext &context, std::shared_ptr<const Plan> plan,
                 std::vector<void *> arenas)
      : StepExecutable(std::move(plan), std::move(arenas)), context(context) {}

  Result<Call> prepareLaunch(uint32_t kernel,
                             std::vector<void *> buffers) override;
  Result<Call> prepareMatMul(const MatMulGeometry &geometry,
                             const MatMulAddresses &addresses) override;
  Result<Call>
  prepareConvolution(const ConvolutionGeometry &geometry,
                     const ConvolutionAddresses &addresses) override;
  Status bindWorkspace(Device &device);
  Status queueSteps(ProgramKind program, size_t begin, size_t end);
  Status queue(Call &call);
  Status launch(KernelCall &call);

  CudaContext &context;
  RunMode mode = RunMode::fromEnvironment();
  KernelModules kernels;
  std::unique_ptr<cublaslt::Handle> products;
  std::unique_ptr<cudnn::Handle> convolutions;
  Memory workspace; ///< Shared by all library calls: they run in one stream.
  RecordedRanges recorded;
};

} // namespace halftone::runtime::cuda
