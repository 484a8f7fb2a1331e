// SPDX-License-Identifier: Apache-2.0
// Small plans put together in a test, and one run of such a plan on a device.
#pragma once

#include "runtime/device/Device.h"
#include "tests/device/TestTensor.h"

#include <memory>

namespace halftone::runtime::test {

/// C [m, n] = A [m, k] B [k, n], not batched, plain in every respect.
MatMul plainProduct(int64_t m, int64_t n, int64_t k);

/// A plan of one arena and one program. Buffers lie apart, so that a write
/// beyond one is seen.
class TestPlan {
public:
  explicit TestPlan(const DeviceInfo &device);

  /// A buffer with content, or one that a step writes.
  uint32_t input(const TestTensor &tensor);
  uint32_t output(ElementType type, Shape shape);
  /// A view of `elements` of another buffer from element `first` on.
  uint32_t view(uint32_t buffer, uint64_t first, Shape shape);
  /// A buffer with content that starts `elements` after an aligned address.
  uint32_t shifted(const TestTensor &tensor, int64_t elements);

  void step(std::string node, std::vector<uint32_t> inputs,
            std::vector<uint32_t> outputs,
            std::variant<Launch, MatMul, Convolution, Copy> kind);
  /// Adds a kernel in a module of its own; gives its index.
  uint32_t kernel(std::string name, std::string code, int64_t items,
                  int64_t grain = 1);

  Plan plan{};
  std::vector<std::pair<uint32_t, TestTensor>> contents;
};

/// A plan on a device with memory of its own.
class TestRun {
public:
  /// Allocates, uploads the contents and prepares the plan.
  static Result<std::unique_ptr<TestRun>> start(Device &device,
                                                const TestPlan &plan);

  Status run(size_t begin, size_t end);
  Status runAll() { return run(0, plan->train.steps.size()); }

  void *address(uint32_t buffer) const;
  Result<std::vector<std::byte>> bytes(uint32_t buffer);
  Result<TestTensor> read(uint32_t buffer);
  /// Whether all memory between buffers is as it was at the start.
  Result<bool> gapsUntouched();

private:
  TestRun(Device &device, std::shared_ptr<const Plan> plan)
      : device(device), plan(std::move(plan)) {}
  Result<std::vector<std::byte>> download(uint64_t offset, uint64_t bytes);

  Device &device;
  std::shared_ptr<const Plan> plan;
  Memory arena;
  std::unique_ptr<Executable> executable;
};

} // namespace halftone::runtime::test
