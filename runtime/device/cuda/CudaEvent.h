// SPDX-License-Identifier: Apache-2.0
// Points in the two streams.
#pragma once

#include "runtime/device/cuda/CudaContext.h"

namespace halftone::runtime::cuda {

/// The context must outlive it.
class CudaEvent final : public Event {
public:
  static Result<std::shared_ptr<Event>> record(CudaContext &context,
                                               Queue queue);
  ~CudaEvent() override;

  Status wait() override;
  bool ready() override;
  /// Lets `queue` wait, not the caller.
  Status holdBack(Queue queue);

private:
  explicit CudaEvent(CudaContext &context) : context(context) {}

  CudaContext &context;
  CUevent event = nullptr;
};

} // namespace halftone::runtime::cuda
