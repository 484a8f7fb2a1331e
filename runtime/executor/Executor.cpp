// SPDX-License-Identifier: Apache-2.0
// Allocation of a plan's arenas and the walk over its steps.
#include "runtime/executor/Executor.h"

#include "runtime/executor/GradientPart.h"

#include <algorithm>
#include <fmt/format.h>

namespace halftone::runtime {

namespace {
/// For each arena, whether the programs need it.
std::vector<bool> neededArenas(const Plan &plan,
                               const std::vector<ProgramKind> &programs) {
  std::vector<bool> needed(plan.arenas.size());
  for (size_t i = 0; i < needed.size(); ++i)
    needed[i] = plan.arenas[i].kind == ArenaKind::Parameters ||
                plan.arenas[i].kind == ArenaKind::Constants;
  auto mark = [&](uint32_t buffer) {
    needed[plan.buffers[buffer].arena] = true;
  };
  for (ProgramKind kind : programs) {
    for (const Step &step : plan.program(kind).steps) {
      for (uint32_t buffer : step.inputs)
        mark(buffer);
      for (uint32_t buffer : step.outputs)
        mark(buffer);
    }
    for (const ProgramOutput &output : plan.program(kind).outputs)
      mark(output.buffer);
    for (const Input &input : plan.programInputs(kind))
      mark(input.buffer);
    if (kind == ProgramKind::Train)
      for (size_t i = 0; i < needed.size(); ++i)
        needed[i] = needed[i] || plan.arenas[i].kind == ArenaKind::State ||
                    plan.arenas[i].kind == ArenaKind::Gradients;
  }
  return needed;
}
} // namespace

InputLanding::InputLanding(const Plan &plan, ProgramKind program) {
  constexpr uint64_t kAlignment = 256;
  for (const Input &input : plan.programInputs(program)) {
    offsets.push_back(bytes);
    uint64_t size = plan.buffers[input.buffer].bytes;
    bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
  }
}

Status queueInitialValue(Device &device, const Buffer &buffer, void *address,
                         const std::string &init) {
  if (init.size() == buffer.bytes)
    return device.upload(Queue::Compute, address, init.data(), init.size());
  return device.fill(Queue::Compute, address,
                     std::as_bytes(std::span<const char>(init)),
                     buffer.elements);
}

Result<std::unique_ptr<Executor>>
Executor::create(Device &device, std::shared_ptr<const Plan> plan,
                 const std::vector<ProgramKind> &programs) {
  std::unique_ptr<Executor> executor(new Executor(device, std::move(plan)));
  const std::string &target = executor->thePlan->target;
  if (target != device.info().target)
    return invalidInput(fmt::format(
        "the plan was compiled for '{}', the device '{}' runs '{}' plans; "
        "compile it with --target {} or choose another --device",
        target, device.info().id, device.info().target, device.info().target));
  HALFTONE_RETURN_IF_ERROR(device.covers(*executor->thePlan));
  for (ProgramKind kind : {ProgramKind::Train, ProgramKind::Eval})
    executor->gradientParts[static_cast<size_t>(kind)] =
        gradientSteps(*executor->thePlan, executor->thePlan->program(kind));
  HALFTONE_RETURN_IF_ERROR(executor->allocate(programs));
  std::vector<void *> bases;
  for (const Memory &arena : executor->arenas)
    bases.push_back(arena.data());
  Result<std::unique_ptr<Executable>> executable =
      device.prepare(executor->thePlan, bases, programs);
  HALFTONE_RETURN_IF_ERROR(executable);
  executor->executable = std::move(*executable);
  HALFTONE_RETURN_IF_ERROR(executor->uploadConstants());
  HALFTONE_RETURN_IF_ERROR(executor->resetStates());
  return executor;
}

Status Executor::allocate(const std::vector<ProgramKind> &programs) {
  std::vector<bool> needed = neededArenas(*thePlan, programs);
  uint64_t total = 0;
  for (size_t i = 0; i < needed.size(); ++i)
    total += needed[i] ? thePlan->arenas[i].bytes : 0;
  uint64_t slot = 0;
  for (ProgramKind kind : programs)
    slot = std::max(slot, InputLanding(*thePlan, kind).bytes);
  total += inputSlots.size() * slot;
  Result<MemoryInfo> memory = theDevice.memory();
  HALFTONE_RETURN_IF_ERROR(memory);
  if (total > memory->freeBytes)
    return outOfMemory(fmt::format(
        "the plan needs {} bytes on {}, {} of {} are free; use a smaller batch",
        total, theDevice.info().id, memory->freeBytes, memory->totalBytes));
  for (size_t i = 0; i < needed.size(); ++i) {
    const Arena &arena = thePlan->arenas[i];
    // Fills take whole words; the allocation is rounded up to one.
    uint64_t bytes = needed[i] ? (arena.bytes + 7) / 8 * 8 : 0;
    Result<Memory> allocated = theDevice.allocate(bytes, arena.name);
    HALFTONE_RETURN_IF_ERROR(allocated);
    arenas.push_back(std::move(*allocated));
    // Gaps between buffers are read too (flat arithmetic over all parameters),
    // so they must hold numbers.
    if (bytes != 0)
      HALFTONE_RETURN_IF_ERROR(
          theDevice.fill(Queue::Compute, arenas.back().data(),
                         std::array<std::byte, 8>{}, bytes / 8));
  }
  return allocateInputSlots(slot);
}

Status Executor::allocateInputSlots(uint64_t bytes) {
  for (InputSlot &slot : inputSlots) {
    Result<Memory> staging = theDevice.allocateStaging(bytes);
    HALFTONE_RETURN_IF_ERROR(staging);
    Result<Memory> memory = theDevice.allocate(bytes, "batches on their way");
    HALFTONE_RETURN_IF_ERROR(memory);
    slot.staging = std::move(*staging);
    slot.device = std::move(*memory);
  }
  return {};
}

Status Executor::uploadConstants() {
  for (const Constant &constant : thePlan->constants)
    if (!constant.data.empty())
      HALFTONE_RETURN_IF_ERROR(
          theDevice.upload(Queue::Compute, address(constant.buffer),
                           constant.data.data(), constant.data.size()));
  return theDevice.synchronize();
}

Status Executor::resetStates() {
  for (const State &state : thePlan->states)
    if (hasBuffer(state.buffer))
      HALFTONE_RETURN_IF_ERROR(
          queueInitialValue(theDevice, thePlan->buffers[state.buffer],
                            address(state.buffer), state.init));
  return theDevice.synchronize();
}

void *Executor::address(uint32_t buffer) const {
  const Buffer &described = thePlan->buffers[buffer];
  auto *base = static_cast<std::byte *>(arenas[described.arena].data());
  return base ? base + described.offset : nullptr;
}

Status Executor::run(ProgramKind program, ProgramPart part) {
  const std::vector<Step> &steps = thePlan->program(program).steps;
  for (size_t begin = 0; begin < steps.size();) {
    if (!isIn(part, program, begin)) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < steps.size() && isIn(part, program, end))
      ++end;
    HALFTONE_RETURN_IF_ERROR(executable->run(program, begin, end));
    begin = end;
  }
  return {};
}

Status Executor::runObserved(ProgramKind program, const StepObserver &observer,
                             ProgramPart part) {
  const std::vector<Step> &steps = thePlan->program(program).steps;
  HALFTONE_RETURN_IF_ERROR(theDevice.synchronize());
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!isIn(part, program, i))
      continue;
    if (observer.before)
      HALFTONE_RETURN_IF_ERROR(observer.before(i));
    HALFTONE_RETURN_IF_ERROR(executable->run(program, i, i + 1));
    HALFTONE_RETURN_IF_ERROR(theDevice.synchronize());
    if (observer.after)
      HALFTONE_RETURN_IF_ERROR(observer.after(i));
  }
  return {};
}

Status Executor::read(uint32_t buffer, void *destination) {
  HALFTONE_RETURN_IF_ERROR(theDevice.download(Queue::Compute, destination,
                                              address(buffer),
                                              thePlan->buffers[buffer].bytes));
  return theDevice.synchronize();
}

Status Executor::write(uint32_t buffer, const void *source) {
  HALFTONE_RETURN_IF_ERROR(theDevice.upload(
      Queue::Compute, address(buffer), source, thePlan->buffers[buffer].bytes));
  return theDevice.synchronize();
}

Result<std::vector<std::byte>> Executor::read(uint32_t buffer) {
  std::vector<std::byte> bytes(thePlan->buffers[buffer].bytes);
  HALFTONE_RETURN_IF_ERROR(read(buffer, bytes.data()));
  return bytes;
}

} // namespace halftone::runtime
