// SPDX-License-Identifier: Apache-2.0
// One GPU in use: its primary context, the two streams, and what is known when
// work on it fails.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/libs/cuda/CudaDriver.h"

#include <array>
#include <mutex>

namespace halftone::runtime::cuda {

/// What runs, for messages: steps [begin, end) of a program.
struct RunningSteps {
  std::shared_ptr<const Plan> plan;
  ProgramKind program = ProgramKind::Train;
  size_t begin = 0, end = 0;
};

class CudaContext {
public:
  static Result<std::unique_ptr<CudaContext>> open(int index);
  ~CudaContext();
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;

  const Driver &driver;
  const CUdevice device;

  CUstream stream(Queue queue) const {
    return streams[static_cast<size_t>(queue)];
  }
  /// 90 for compute capability 9.0.
  int architecture() const { return sm; }

  /// Makes the context current on the calling thread. After a failure that
  /// ended the context it gives that failure again.
  Status enter();

  /// What a driver call answered; `what` it was to do. A failure that ends the
  /// context also names the steps that ran last, and is kept.
  Status check(CUresult result, std::string_view what);
  /// The same for a call that concerns the steps that ran last as a whole:
  /// every failure names them.
  Status checkSteps(CUresult result, std::string_view what);
  Status synchronize(Queue queue);
  /// The failure that ended the context; success while it lives.
  Status whyEnded();

  /// To be told before steps are queued.
  void running(RunningSteps steps) { current = std::move(steps); }

private:
  CudaContext(const Driver &driver, CUdevice device)
      : driver(driver), device(device) {}
  Status start();
  /// "; it happened in ..." or nothing.
  std::string whereText() const;

  bool retained = false;
  int sm = 0;
  CUcontext context = nullptr;
  std::array<CUstream, 2> streams{};
  RunningSteps current;
  std::mutex mutex; ///< Of `ended`: modules are loaded by several threads.
  Status ended;     ///< The failure after which the context is of no use.
};

} // namespace halftone::runtime::cuda
