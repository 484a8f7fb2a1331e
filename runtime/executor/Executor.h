// SPDX-License-Identifier: Apache-2.0
// A plan in the memory of a device: owns the arenas, moves buffers in and out,
// runs the programs whole or step by step.
#pragma once

#include "runtime/device/Device.h"

#include <array>
#include <functional>

namespace halftone::runtime {

/// Looks at the steps of a program as they run. `step` is the index in the
/// program. The device has finished everything before; a failure stops the run.
/// Empty functions are skipped.
struct StepObserver {
  std::function<Status(size_t step)> before;
  std::function<Status(size_t step)> after;
};

/// Which steps of a program to run.
enum class ProgramPart : uint8_t {
  All,
  Gradients, ///< What makes loss and gradients; no parameter has changed.
};

/// Where each input of a program (in the order of Plan::programInputs) lies in
/// an InputSlot.
struct InputLanding {
  InputLanding(const Plan &plan, ProgramKind program);

  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;
};

/// Where a batch of any program arrives: staging memory, and memory of the
/// device. The events mark the last use of either; whoever uses the slot waits
/// for the old ones and leaves new ones.
struct InputSlot {
  Memory staging, device;
  std::shared_ptr<Event> uploaded; ///< `staging` is free again.
  std::shared_ptr<Event> consumed; ///< `device` is free again.
};

class Executor {
public:
  /// Allocates the arenas that `programs` touch (parameters and constants
  /// always), all zero, and the slots where batches arrive; prepares the plan,
  /// uploads its constants and the states' initial values. Checks first that
  /// the device covers the plan, and that the memory is there.
  /// `device` must outlive the result.
  static Result<std::unique_ptr<Executor>>
  create(Device &device, std::shared_ptr<const Plan> plan,
         const std::vector<ProgramKind> &programs);

  const Plan &plan() const { return *thePlan; }
  const std::shared_ptr<const Plan> &sharedPlan() const { return thePlan; }
  Device &device() const { return theDevice; }

  /// Whether the arena has memory here.
  bool hasArena(uint32_t arena) const {
    return arenas[arena].data() != nullptr;
  }
  bool hasBuffer(uint32_t buffer) const {
    return hasArena(thePlan->buffers[buffer].arena);
  }
  /// The device address of a buffer or the base of an arena.
  void *address(uint32_t buffer) const;
  void *arenaAddress(uint32_t arena) const { return arenas[arena].data(); }

  /// Queue a program's steps; does not wait.
  Status run(ProgramKind program, ProgramPart part = ProgramPart::All);
  /// Runs step by step, waiting after each.
  Status runObserved(ProgramKind program, const StepObserver &observer,
                     ProgramPart part = ProgramPart::All);

  /// Copy all bytes of a buffer, after all work queued so far; wait until done.
  Status read(uint32_t buffer, void *destination);
  Status write(uint32_t buffer, const void *source);
  Result<std::vector<std::byte>> read(uint32_t buffer);

  /// A name for one more writer of input buffers, never 0; and who of them
  /// wrote last. A writer may leave what it wrote in place only while it is the
  /// last.
  uint64_t newInputWriter() { return ++inputWriters; }
  uint64_t lastInputWriter = 0;
  /// Two slots, which take turns.
  InputSlot &nextInputSlot() {
    return inputSlots[inputsFed++ % inputSlots.size()];
  }

  /// Sets every state to its initial value.
  Status resetStates();

private:
  Executor(Device &device, std::shared_ptr<const Plan> plan)
      : theDevice(device), thePlan(std::move(plan)) {}

  bool isIn(ProgramPart part, ProgramKind program, size_t step) const {
    return part == ProgramPart::All ||
           gradientParts[static_cast<size_t>(program)][step];
  }
  Status allocate(const std::vector<ProgramKind> &programs);
  Status allocateInputSlots(uint64_t bytes);
  Status uploadConstants();

  Device &theDevice;
  std::shared_ptr<const Plan> thePlan;
  std::vector<Memory> arenas;
  std::array<InputSlot, 2> inputSlots;
  uint64_t inputsFed = 0;
  uint64_t inputWriters = 0;
  /// By ProgramKind: which steps make up ProgramPart::Gradients.
  std::array<std::vector<bool>, 2> gradientParts;
  std::unique_ptr<Executable> executable;
};

/// Queues the value of a state: all its bytes, or one element that fills it.
Status queueInitialValue(Device &device, const Buffer &buffer, void *address,
                         const std::string &init);

} // namespace halftone::runtime
