// SPDX-License-Identifier: Apache-2.0
// Two slots take turns, so that one batch travels while the other is used.
#include "runtime/session/InputFeed.h"

namespace halftone::runtime {

InputFeed::InputFeed(Executor &executor, ProgramKind program,
                     const DataSet &data)
    : executor(&executor), program(program), data(&data),
      offsets(InputLanding(executor.plan(), program).offsets),
      writer(executor.newInputWriter()) {}

bool InputFeed::isInPlace(size_t input) const {
  const Plan &plan = executor->plan();
  uint32_t buffer = plan.programInputs(program)[input].buffer;
  return executor->lastInputWriter == writer && data->isFixed(input) &&
         plan.arenas[plan.buffers[buffer].arena].kind == ArenaKind::Inputs;
}

Status InputFeed::feed(std::span<const int64_t> rows) {
  const Plan &plan = executor->plan();
  const std::vector<Input> &inputs = plan.programInputs(program);
  Device &device = executor->device();
  std::vector<size_t> moving;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!isInPlace(i) && plan.buffers[inputs[i].buffer].bytes != 0)
      moving.push_back(i);
  executor->lastInputWriter = writer;
  if (moving.empty())
    return {};

  InputSlot &slot = executor->nextInputSlot();
  auto *staging = static_cast<std::byte *>(slot.staging.data());
  auto *landing = static_cast<std::byte *>(slot.device.data());
  if (slot.uploaded)
    HALFTONE_RETURN_IF_ERROR(slot.uploaded->wait());
  if (slot.consumed)
    HALFTONE_RETURN_IF_ERROR(device.waitFor(Queue::Transfer, slot.consumed));
  for (size_t i : moving) {
    data->gather(i, rows, staging + offsets[i]);
    HALFTONE_RETURN_IF_ERROR(device.upload(
        Queue::Transfer, landing + offsets[i], staging + offsets[i],
        plan.buffers[inputs[i].buffer].bytes));
  }
  Result<std::shared_ptr<Event>> uploaded = device.record(Queue::Transfer);
  HALFTONE_RETURN_IF_ERROR(uploaded);
  slot.uploaded = std::move(*uploaded);
  HALFTONE_RETURN_IF_ERROR(device.waitFor(Queue::Compute, slot.uploaded));
  for (size_t i : moving)
    HALFTONE_RETURN_IF_ERROR(device.copy(
        Queue::Compute, executor->address(inputs[i].buffer),
        landing + offsets[i], plan.buffers[inputs[i].buffer].bytes));
  Result<std::shared_ptr<Event>> consumed = device.record(Queue::Compute);
  HALFTONE_RETURN_IF_ERROR(consumed);
  slot.consumed = std::move(*consumed);
  return {};
}

} // namespace halftone::runtime
