// SPDX-License-Identifier: Apache-2.0
// Events carry no times: those would cost.
#include "runtime/device/cuda/CudaEvent.h"

namespace halftone::runtime::cuda {

Result<std::shared_ptr<Event>> CudaEvent::record(CudaContext &context,
                                                 Queue queue) {
  HALFTONE_RETURN_IF_ERROR(context.enter());
  std::shared_ptr<CudaEvent> made(new CudaEvent(context));
  CUresult result =
      context.driver.eventCreate(&made->event, CU_EVENT_DISABLE_TIMING);
  if (result == CUDA_SUCCESS)
    result = context.driver.eventRecord(made->event, context.stream(queue));
  HALFTONE_RETURN_IF_ERROR(context.check(result, "recording an event"));
  return std::shared_ptr<Event>(std::move(made));
}

CudaEvent::~CudaEvent() {
  if (event && context.enter().ok())
    context.driver.eventDestroy(event);
}

Status CudaEvent::wait() {
  HALFTONE_RETURN_IF_ERROR(context.enter());
  return context.checkSteps(context.driver.eventSynchronize(event),
                            "running on the GPU");
}

bool CudaEvent::ready() {
  // A failure counts as passed: wait() then tells it.
  return !context.enter().ok() ||
         context.driver.eventQuery(event) != CUDA_ERROR_NOT_READY;
}

Status CudaEvent::holdBack(Queue queue) {
  HALFTONE_RETURN_IF_ERROR(context.enter());
  return context.check(
      context.driver.streamWaitEvent(context.stream(queue), event, 0),
      "waiting for an event");
}

} // namespace halftone::runtime::cuda
