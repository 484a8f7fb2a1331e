// SPDX-License-Identifier: Apache-2.0
// Memory by plain allocations; copies and fills by the driver.
#include "runtime/device/cuda/CudaDevice.h"

#include "runtime/device/cuda/CudaEvent.h"
#include "runtime/device/cuda/CudaExecutable.h"
#include "runtime/libs/cuda/Remedies.h"

#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace halftone::runtime::cuda {
namespace {

class CudaDevice final : public Device {
public:
  CudaDevice(DeviceInfo description, std::unique_ptr<CudaContext> opened)
      : description(std::move(description)), context(std::move(opened)) {}

  const DeviceInfo &info() const override { return description; }
  Result<MemoryInfo> memory() override;

  Result<Memory> allocate(uint64_t bytes, std::string_view purpose) override;
  Result<Memory> allocateStaging(uint64_t bytes) override;

  Status upload(Queue queue, void *destination, const void *source,
                uint64_t bytes) override;
  Status download(Queue queue, void *destination, const void *source,
                  uint64_t bytes) override;
  Status copy(Queue queue, void *destination, const void *source,
              uint64_t bytes) override;
  Status fill(Queue queue, void *destination,
              std::span<const std::byte> pattern, uint64_t count) override;

  Result<std::shared_ptr<Event>> record(Queue queue) override {
    return CudaEvent::record(*context, queue);
  }
  Status waitFor(Queue queue, const std::shared_ptr<Event> &event) override {
    return static_cast<CudaEvent &>(*event).holdBack(queue);
  }
  Status synchronize() override;

  Status covers(const Plan &plan) const override;
  Result<std::unique_ptr<Executable>>
  prepare(std::shared_ptr<const Plan> plan, std::vector<void *> arenas,
          const std::vector<ProgramKind> &programs) override;

private:
  /// After an asynchronous copy with the host at `address`: waits where that
  /// is no staging memory, which the driver may still read or write.
  Status settle(Queue queue, const void *address, CUresult result,
                std::string_view what);

  DeviceInfo description;
  std::unique_ptr<CudaContext> context;
  std::atomic<uint64_t> used = 0, peak = 0;
  std::mutex mutex;
  std::map<uintptr_t, uint64_t> staging; ///< Bytes by address.
};

Result<MemoryInfo> CudaDevice::memory() {
  HALFTONE_RETURN_IF_ERROR(context->enter());
  size_t free = 0, total = 0;
  HALFTONE_RETURN_IF_ERROR(
      context->check(context->driver.memGetInfo(&free, &total),
                     "asking for the GPU's free memory"));
  return MemoryInfo{free, total, used, peak};
}

Result<Memory> CudaDevice::allocate(uint64_t bytes, std::string_view purpose) {
  if (bytes == 0)
    return Memory();
  auto now = memory();
  HALFTONE_RETURN_IF_ERROR(now);
  CUdeviceptr address = 0;
  CUresult result = bytes > now->freeBytes
                        ? CUDA_ERROR_OUT_OF_MEMORY
                        : context->driver.memAlloc(&address, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return outOfMemory(fmt::format(
        "not enough memory on {} for {}: {} bytes are needed beside {} that "
        "the plan has, {} of {} are free; {}",
        description.id, purpose, bytes, used.load(), now->freeBytes,
        now->totalBytes, kFreeMemory));
  HALFTONE_RETURN_IF_ERROR(context->check(result, "allocating memory"));
  uint64_t all = used += bytes;
  for (uint64_t seen = peak;
       all > seen && !peak.compare_exchange_weak(seen, all);)
    ;
  return Memory(reinterpret_cast<void *>(address), bytes,
                [this, bytes](void *address) {
                  if (context->enter().ok())
                    context->driver.memFree(deviceAddress(address));
                  used -= bytes;
                });
}

Result<Memory> CudaDevice::allocateStaging(uint64_t bytes) {
  if (bytes == 0)
    return Memory();
  HALFTONE_RETURN_IF_ERROR(context->enter());
  void *address = nullptr;
  CUresult result =
      context->driver.memHostAlloc(&address, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) // The host's, not the GPU's.
    return outOfMemory(fmt::format("not enough memory on the host to pin {} "
                                   "bytes of it; {}",
                                   bytes, kFreeHostMemory));
  HALFTONE_RETURN_IF_ERROR(context->check(
      result, fmt::format("pinning {} bytes of host memory", bytes)));
  std::scoped_lock lock(mutex);
  staging[reinterpret_cast<uintptr_t>(address)] = bytes;
  return Memory(address, bytes, [this](void *address) {
    if (context->enter().ok())
      context->driver.memFreeHost(address);
    std::scoped_lock lock(mutex);
    staging.erase(reinterpret_cast<uintptr_t>(address));
  });
}

Status CudaDevice::settle(Queue queue, const void *address, CUresult result,
                          std::string_view what) {
  HALFTONE_RETURN_IF_ERROR(context->check(result, what));
  auto at = reinterpret_cast<uintptr_t>(address);
  {
    std::scoped_lock lock(mutex);
    auto after = staging.upper_bound(at);
    if (after != staging.begin())
      if (auto block = std::prev(after); at - block->first < block->second)
        return {};
  }
  return context->synchronize(queue);
}

Status CudaDevice::upload(Queue queue, void *destination, const void *source,
                          uint64_t bytes) {
  if (bytes == 0)
    return {};
  HALFTONE_RETURN_IF_ERROR(context->enter());
  return settle(queue, source,
                context->driver.memcpyHtoDAsync(deviceAddress(destination),
                                                source, bytes,
                                                context->stream(queue)),
                "copying to the GPU");
}

Status CudaDevice::download(Queue queue, void *destination, const void *source,
                            uint64_t bytes) {
  if (bytes == 0)
    return {};
  HALFTONE_RETURN_IF_ERROR(context->enter());
  return settle(queue, destination,
                context->driver.memcpyDtoHAsync(destination,
                                                deviceAddress(source), bytes,
                                                context->stream(queue)),
                "copying from the GPU");
}

Status CudaDevice::copy(Queue queue, void *destination, const void *source,
                        uint64_t bytes) {
  if (bytes == 0 || destination == source)
    return {};
  HALFTONE_RETURN_IF_ERROR(context->enter());
  return context->check(context->driver.memcpyDtoDAsync(
                            deviceAddress(destination), deviceAddress(source),
                            bytes, context->stream(queue)),
                        "copying on the GPU");
}

Status CudaDevice::fill(Queue queue, void *destination,
                        std::span<const std::byte> pattern, uint64_t count) {
  size_t size = pattern.size();
  if (size != 1 && size != 2 && size != 4 && size != 8)
    return failed(fmt::format("a fill pattern of {} bytes", size));
  if (count == 0)
    return {};
  HALFTONE_RETURN_IF_ERROR(context->enter());
  const Driver &driver = context->driver;
  CUstream stream = context->stream(queue);
  CUdeviceptr to = deviceAddress(destination);
  uint32_t words[2] = {};
  std::memcpy(words, pattern.data(), size);
  auto done = [&](CUresult result) {
    return context->check(result, "filling memory");
  };
  if (size == 1)
    return done(driver.memsetD8Async(to, static_cast<uint8_t>(words[0]), count,
                                     stream));
  if (size == 2)
    return done(driver.memsetD16Async(to, static_cast<uint16_t>(words[0]),
                                      count, stream));
  if (size == 4 || words[0] == words[1])
    return done(
        driver.memsetD32Async(to, words[0], count * (size / 4), stream));
  // Every other word each.
  HALFTONE_RETURN_IF_ERROR(
      done(driver.memsetD2D32Async(to, 8, words[0], 1, count, stream)));
  return done(driver.memsetD2D32Async(to + 4, 8, words[1], 1, count, stream));
}

Status CudaDevice::synchronize() {
  HALFTONE_RETURN_IF_ERROR(context->enter());
  HALFTONE_RETURN_IF_ERROR(context->synchronize(Queue::Transfer));
  return context->synchronize(Queue::Compute);
}

Status CudaDevice::covers(const Plan &plan) const {
  if (!architectureCovers(context->architecture(), plan.architecture))
    return unsupported(fmt::format(
        "the plan is for GPUs of {}, this one ({}) is {}; compile it with "
        "--target cuda:{}",
        plan.architecture, description.name, description.architecture,
        description.architecture));
  return {};
}

Result<std::unique_ptr<Executable>>
CudaDevice::prepare(std::shared_ptr<const Plan> plan,
                    std::vector<void *> arenas,
                    const std::vector<ProgramKind> &programs) {
  HALFTONE_RETURN_IF_ERROR(covers(*plan));
  if (arenas.size() != plan->arenas.size())
    return failed(fmt::format("{} arenas for a plan of {}", arenas.size(),
                              plan->arenas.size()));
  HALFTONE_RETURN_IF_ERROR(context->enter());
  return CudaExecutable::prepare(*this, *context, std::move(plan),
                                 std::move(arenas), programs);
}

} // namespace

Result<std::unique_ptr<Device>> openGpu(int index) {
  auto info = describeGpu(index);
  HALFTONE_RETURN_IF_ERROR(info);
  auto context = CudaContext::open(index);
  HALFTONE_RETURN_IF_ERROR(context);
  HALFTONE_RETURN_IF_ERROR(
      checkArchitecture((*context)->architecture(), info->name));
  return std::unique_ptr<Device>(
      std::make_unique<CudaDevice>(std::move(*info), std::move(*context)));
}

} // namespace halftone::runtime::cuda
