// SPDX-License-Identifier: Apache-2.0
// A device whose events pass only when somebody waits for them, so that the
// host runs ahead as far as it may: what a GPU does, on any machine.
#pragma once

#include "runtime/device/Device.h"

namespace halftone::test {

class LateDevice final : public runtime::Device {
public:
  using Queue = runtime::Queue;
  using Event = runtime::Event;
  using Memory = runtime::Memory;
  using Status = runtime::Status;
  template <typename T> using Result = runtime::Result<T>;

  explicit LateDevice(std::unique_ptr<runtime::Device> device)
      : device(std::move(device)) {}

  const runtime::DeviceInfo &info() const override { return device->info(); }
  Result<runtime::MemoryInfo> memory() override { return device->memory(); }
  Result<Memory> allocate(uint64_t bytes, std::string_view purpose) override {
    return device->allocate(bytes, purpose);
  }
  Result<Memory> allocateStaging(uint64_t bytes) override {
    return device->allocateStaging(bytes);
  }
  Status upload(Queue queue, void *destination, const void *source,
                uint64_t bytes) override {
    return device->upload(queue, destination, source, bytes);
  }
  Status download(Queue queue, void *destination, const void *source,
                  uint64_t bytes) override {
    return device->download(queue, destination, source, bytes);
  }
  Status copy(Queue queue, void *destination, const void *source,
              uint64_t bytes) override {
    return device->copy(queue, destination, source, bytes);
  }
  Status fill(Queue queue, void *destination,
              std::span<const std::byte> pattern, uint64_t count) override {
    return device->fill(queue, destination, pattern, count);
  }
  Result<std::shared_ptr<Event>> record(Queue) override {
    return std::shared_ptr<Event>(std::make_shared<LateEvent>());
  }
  Status waitFor(Queue, const std::shared_ptr<Event> &) override { return {}; }
  Status synchronize() override { return device->synchronize(); }
  Status covers(const runtime::Plan &plan) const override {
    return device->covers(plan);
  }
  Result<std::unique_ptr<runtime::Executable>>
  prepare(std::shared_ptr<const runtime::Plan> plan, std::vector<void *> arenas,
          const std::vector<runtime::ProgramKind> &programs) override {
    return device->prepare(std::move(plan), std::move(arenas), programs);
  }

private:
  struct LateEvent final : Event {
    Status wait() override {
      passed = true;
      return {};
    }
    bool ready() override { return passed; }
    bool passed = false;
  };

  std::unique_ptr<runtime::Device> device;
};

} // namespace halftone::test
