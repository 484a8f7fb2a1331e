// SPDX-License-Identifier: Apache-2.0
// Memory comes in pages of the operating system's, which arrive zeroed; both
// queues are the caller's thread.
#include "runtime/device/cpu/CpuDevice.h"

#include "runtime/device/cpu/CpuExecutable.h"
#include "runtime/device/cpu/HostCpu.h"

#include "llvm/Config/llvm-config.h"

#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>

namespace halftone::runtime::cpu {
namespace {

struct PassedEvent final : Event {
  Status wait() override { return {}; }
  bool ready() override { return true; }
};

class CpuDevice final : public Device {
public:
  CpuDevice() : description(describeCpu()) {}

  const DeviceInfo &info() const override { return description; }
  Result<MemoryInfo> memory() override {
    return MemoryInfo{availableMemory(), description.totalBytes, used, peak};
  }

  Result<Memory> allocate(uint64_t bytes, std::string_view purpose) override;
  Result<Memory> allocateStaging(uint64_t bytes) override {
    return allocate(bytes, "staging");
  }

  Status upload(Queue, void *destination, const void *source,
                uint64_t bytes) override {
    return move(destination, source, bytes);
  }
  Status download(Queue, void *destination, const void *source,
                  uint64_t bytes) override {
    return move(destination, source, bytes);
  }
  Status copy(Queue, void *destination, const void *source,
              uint64_t bytes) override {
    return move(destination, source, bytes);
  }
  Status fill(Queue queue, void *destination,
              std::span<const std::byte> pattern, uint64_t count) override;

  Result<std::shared_ptr<Event>> record(Queue) override {
    return std::shared_ptr<Event>(std::make_shared<PassedEvent>());
  }
  Status waitFor(Queue, const std::shared_ptr<Event> &) override { return {}; }
  Status synchronize() override { return {}; }

  Status covers(const Plan &plan) const override;
  Result<std::unique_ptr<Executable>>
  prepare(std::shared_ptr<const Plan> plan, std::vector<void *> arenas,
          const std::vector<ProgramKind> &programs) override;

private:
  static Status move(void *destination, const void *source, uint64_t bytes) {
    if (bytes)
      std::memmove(destination, source, bytes);
    return {};
  }
  void account(uint64_t bytes);

  DeviceInfo description;
  std::atomic<uint64_t> used = 0, peak = 0;
};

void CpuDevice::account(uint64_t bytes) {
  uint64_t now = used += bytes, seen = peak;
  while (now > seen && !peak.compare_exchange_weak(seen, now))
    ;
}

Result<Memory> CpuDevice::allocate(uint64_t bytes, std::string_view purpose) {
  if (bytes == 0)
    return Memory();
  uint64_t available = availableMemory();
  // The system itself would promise more than it has.
  void *address = bytes > available
                      ? MAP_FAILED
                      : mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    return outOfMemory(
        fmt::format("not enough memory for {}: {} bytes are needed, {} are "
                    "available",
                    purpose, bytes, available));
  madvise(address, bytes, MADV_HUGEPAGE);
  account(bytes);
  return Memory(address, bytes, [this, bytes](void *address) {
    munmap(address, bytes);
    used -= bytes;
  });
}

Status CpuDevice::fill(Queue, void *destination,
                       std::span<const std::byte> pattern, uint64_t count) {
  size_t size = pattern.size();
  if (size != 1 && size != 2 && size != 4 && size != 8)
    return failed(fmt::format("a fill pattern of {} bytes", size));
  auto *bytes = static_cast<std::byte *>(destination);
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(bytes + i * size, pattern.data(), size);
  return {};
}

Status CpuDevice::covers(const Plan &plan) const {
  if (!levelCovers(description.architecture, plan.architecture))
    return unsupported(fmt::format(
        "the plan needs a processor of level {}, this one is {}; compile it "
        "again on this machine",
        plan.architecture, description.architecture));
  return {};
}

Result<std::unique_ptr<Executable>>
CpuDevice::prepare(std::shared_ptr<const Plan> plan, std::vector<void *> arenas,
                   const std::vector<ProgramKind> &programs) {
  HALFTONE_RETURN_IF_ERROR(covers(*plan));
  if (arenas.size() != plan->arenas.size())
    return failed(fmt::format("{} arenas for a plan of {}", arenas.size(),
                              plan->arenas.size()));
  return CpuExecutable::prepare(*this, std::move(plan), std::move(arenas),
                                programs);
}

} // namespace

DeviceInfo describeCpu() {
  return {
      .id = "cpu",
      .target = "cpu",
      .name = processorName(),
      .architecture = featureLevel(),
      .totalBytes = totalMemory(),
      .properties = {{"threads", std::to_string(omp_get_max_threads())},
                     {"features", notableFeatures()},
                     {"products", "float32 (float16 and bfloat16 are widened)"},
                     {"oneDNN", onednn::version()},
                     {"LLVM", LLVM_VERSION_STRING}}};
}

Result<std::unique_ptr<Device>> openCpu() {
  return std::unique_ptr<Device>(std::make_unique<CpuDevice>());
}

} // namespace halftone::runtime::cpu
