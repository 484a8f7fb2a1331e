// SPDX-License-Identifier: Apache-2.0
// What the executor needs of a machine: memory, two queues, and plans made
// runnable. Shaped for CUDA (streams, events, pinned staging, capture of a
// whole program into a graph); the CPU does everything at once and in order.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::runtime {

/// The least GPU that plans run on, of compute capability 8.0 (Ampere): kernels
/// use what came with it.
inline constexpr int kLeastSm = 80;

/// What `halftone-run devices` prints.
struct DeviceInfo {
  std::string id;           ///< As --device takes it: "cpu", "cuda:0".
  std::string target;       ///< The plan target it runs: "cpu" or "cuda".
  std::string name;         ///< The processor's name.
  std::string architecture; ///< CPU feature level, or "sm_90".
  uint64_t totalBytes = 0;
  /// Anything else worth knowing, in order: threads, driver, library versions,
  /// element types products run in.
  std::vector<std::pair<std::string, std::string>> properties;
};

struct MemoryInfo {
  uint64_t freeBytes = 0;
  uint64_t totalBytes = 0;
  uint64_t usedBytes = 0; ///< Allocated through this device now, libraries'
                          ///< workspaces included where known.
  uint64_t peakBytes = 0; ///< The largest usedBytes so far.
};

/// Memory that goes back to its device with this object. The device must
/// outlive it.
class Memory {
public:
  /// Gives memory back; called with the address.
  using Release = std::function<void(void *)>;

  Memory() = default;
  Memory(void *address, uint64_t bytes, Release release)
      : address(address), length(bytes), release(std::move(release)) {}
  Memory(Memory &&other) noexcept { *this = std::move(other); }
  Memory &operator=(Memory &&other) noexcept {
    std::swap(address, other.address);
    std::swap(length, other.length);
    std::swap(release, other.release);
    return *this;
  }
  ~Memory() {
    if (address && release)
      release(address);
  }

  /// A device address, or a host address for staging memory. Null when empty.
  void *data() const { return address; }
  uint64_t bytes() const { return length; }

private:
  void *address = nullptr;
  uint64_t length = 0;
  Release release;
};

/// Work is queued in order within a queue; the two run side by side where the
/// device can.
enum class Queue : uint8_t {
  Compute,  ///< Programs, and whatever must lie before or after them.
  Transfer, ///< Copies ahead of their use.
};

/// A point in a queue that others can wait for.
class Event {
public:
  virtual ~Event() = default;
  /// Blocks the caller until the queue has passed the point; reports failures
  /// of the work before it.
  virtual Status wait() = 0;
  /// Whether the queue has passed the point; does not block.
  virtual bool ready() = 0;
};

/// One plan on one device, bound to its arenas.
class Executable {
public:
  virtual ~Executable() = default;

  /// Queues steps [begin, end) of a program on Queue::Compute. Does not wait
  /// for the device. A device may record a range at its first run and replay it
  /// later: equal arguments always mean equal work, since all addresses were
  /// bound by prepare. Failures name the step's node; those of asynchronous
  /// work surface at the next wait or synchronize.
  virtual Status run(ProgramKind program, size_t begin, size_t end) = 0;
};

class Device {
public:
  virtual ~Device() = default;

  virtual const DeviceInfo &info() const = 0;
  virtual Result<MemoryInfo> memory() = 0;

  /// Device memory, aligned to 256 bytes, content undefined. `purpose` names it
  /// in the message when there is too little (StatusCode::OutOfMemory, with the
  /// bytes asked for and free). Zero bytes give an empty Memory.
  virtual Result<Memory> allocate(uint64_t bytes, std::string_view purpose) = 0;
  /// Host memory that asynchronous copies can use (pinned, on CUDA).
  virtual Result<Memory> allocateStaging(uint64_t bytes) = 0;

  /// Queue a copy. `source` and `destination` must stay as they are until an
  /// event recorded after it has passed; the host side is staging memory, or
  /// any memory at the price of waiting.
  virtual Status upload(Queue queue, void *destination, const void *source,
                        uint64_t bytes) = 0;
  virtual Status download(Queue queue, void *destination, const void *source,
                          uint64_t bytes) = 0;
  /// Device to device.
  virtual Status copy(Queue queue, void *destination, const void *source,
                      uint64_t bytes) = 0;
  /// Repeats `pattern` (1, 2, 4 or 8 bytes) `count` times.
  virtual Status fill(Queue queue, void *destination,
                      std::span<const std::byte> pattern, uint64_t count) = 0;

  /// Marks the point after everything queued so far.
  virtual Result<std::shared_ptr<Event>> record(Queue queue) = 0;
  /// Work queued later on `queue` starts only after `event` has passed. Does
  /// not block the caller.
  virtual Status waitFor(Queue queue, const std::shared_ptr<Event> &event) = 0;
  /// Blocks until both queues are empty; reports failures of the work in them.
  virtual Status synchronize() = 0;

  /// Refuses a plan, which must be for this device's target, of an architecture
  /// that this device does not cover (StatusCode::Unsupported).
  virtual Status covers(const Plan &plan) const = 0;

  /// Makes `programs` of a plan that it covers runnable: loads its kernels,
  /// prepares library calls, allocates what these want of workspace.
  /// `arenas[i]` is the base address of plan->arenas[i] (256-aligned; null
  /// where it has no bytes). The device must outlive the result.
  virtual Result<std::unique_ptr<Executable>>
  prepare(std::shared_ptr<const Plan> plan, std::vector<void *> arenas,
          const std::vector<ProgramKind> &programs) = 0;
};

/// The devices of this build and machine, whatever family they belong to;
/// `details` also opens their libraries to ask for versions.
std::vector<DeviceInfo> listDevices(bool details = true);

/// A family of devices of which there is none here, and why.
struct MissingDevices {
  std::string name; ///< "cpu", "cuda".
  std::string reason;
};
std::vector<MissingDevices> missingDevices();

/// Opens "cpu", "cuda" or "cuda:K". Fails with what is missing and what there
/// is.
Result<std::unique_ptr<Device>> openDevice(const std::string &id);

} // namespace halftone::runtime
