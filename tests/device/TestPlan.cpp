// SPDX-License-Identifier: Apache-2.0
// The arena starts as all ones (NaN in every float type): what a step should
// have written and did not is seen, and so is a write into a gap.
#include "tests/device/TestPlan.h"

#include <algorithm>

namespace halftone::runtime::test {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr std::byte kUnwritten{0xff};

uint64_t alignedUp(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

} // namespace

MatMul plainProduct(int64_t m, int64_t n, int64_t k) {
  MatMul product{};
  product.batch = 1;
  product.m = m;
  product.n = n;
  product.k = k;
  return product;
}

TestPlan::TestPlan(const DeviceInfo &device) {
  plan.target = device.target;
  plan.precision = "fp32";
  plan.arenas.push_back({"memory", ArenaKind::Activations, kAlignment});
}

uint32_t TestPlan::output(ElementType type, Shape shape) {
  Arena &arena = plan.arenas[0];
  uint64_t elements = *elementCount(shape);
  uint64_t bytes = elements * elementSize(type);
  uint32_t index = static_cast<uint32_t>(plan.buffers.size());
  plan.buffers.push_back({"buffer" + std::to_string(index), 0, arena.bytes,
                          type, std::move(shape), elements, bytes});
  arena.bytes += alignedUp(bytes) + kAlignment;
  return index;
}

uint32_t TestPlan::input(const TestTensor &tensor) {
  uint32_t index = output(tensor.type, tensor.shape);
  contents.emplace_back(index, tensor);
  return index;
}

uint32_t TestPlan::view(uint32_t buffer, uint64_t first, Shape shape) {
  Buffer copy = plan.buffers[buffer];
  copy.offset += first * elementSize(copy.type);
  copy.elements = *elementCount(shape);
  copy.bytes = copy.elements * elementSize(copy.type);
  copy.shape = std::move(shape);
  plan.buffers.push_back(std::move(copy));
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

uint32_t TestPlan::shifted(const TestTensor &tensor, int64_t elements) {
  if (elements == 0)
    return input(tensor);
  TestTensor padded{tensor.type,
                    {static_cast<int64_t>(tensor.values.size()) + elements},
                    std::vector<double>(static_cast<size_t>(elements))};
  padded.values.insert(padded.values.end(), tensor.values.begin(),
                       tensor.values.end());
  return view(input(padded), static_cast<uint64_t>(elements), tensor.shape);
}

void TestPlan::step(std::string node, std::vector<uint32_t> inputs,
                    std::vector<uint32_t> outputs,
                    std::variant<Launch, MatMul, Convolution, Copy> kind) {
  plan.train.steps.push_back({std::move(node), Phase::Forward,
                              std::move(inputs), std::move(outputs),
                              std::move(kind)});
}

uint32_t TestPlan::kernel(std::string name, std::string code, int64_t items,
                          int64_t grain) {
  constexpr uint32_t kThreads = 128;
  Kernel kernel{};
  kernel.name = std::move(name);
  kernel.module = static_cast<uint32_t>(plan.modules.size());
  kernel.workItems = items;
  kernel.grain = grain;
  kernel.block[0] = kThreads;
  kernel.grid[0] = static_cast<uint32_t>((items + kThreads - 1) / kThreads);
  plan.modules.push_back({std::move(code)});
  plan.kernels.push_back(std::move(kernel));
  return static_cast<uint32_t>(plan.kernels.size() - 1);
}

Result<std::unique_ptr<TestRun>> TestRun::start(Device &device,
                                                const TestPlan &test) {
  std::unique_ptr<TestRun> run(
      new TestRun(device, std::make_shared<Plan>(test.plan)));
  uint64_t bytes = test.plan.arenas[0].bytes;
  auto arena = device.allocate(bytes, "test");
  HALFTONE_RETURN_IF_ERROR(arena);
  run->arena = std::move(*arena);
  auto *base = static_cast<std::byte *>(run->arena.data());
  HALFTONE_RETURN_IF_ERROR(
      device.fill(Queue::Compute, base, std::span(&kUnwritten, 1), bytes));
  for (const auto &[index, tensor] : test.contents) {
    std::vector<std::byte> content = encode(tensor);
    HALFTONE_RETURN_IF_ERROR(
        device.upload(Queue::Compute, base + test.plan.buffers[index].offset,
                      content.data(), content.size()));
  }
  HALFTONE_RETURN_IF_ERROR(device.synchronize());
  auto executable = device.prepare(run->plan, {base},
                                   {ProgramKind::Train, ProgramKind::Eval});
  HALFTONE_RETURN_IF_ERROR(executable);
  run->executable = std::move(*executable);
  return run;
}

Status TestRun::run(size_t begin, size_t end) {
  HALFTONE_RETURN_IF_ERROR(executable->run(ProgramKind::Train, begin, end));
  return device.synchronize();
}

Result<std::vector<std::byte>> TestRun::download(uint64_t offset,
                                                 uint64_t bytes) {
  std::vector<std::byte> content(bytes);
  HALFTONE_RETURN_IF_ERROR(
      device.download(Queue::Compute, content.data(),
                      static_cast<std::byte *>(arena.data()) + offset, bytes));
  HALFTONE_RETURN_IF_ERROR(device.synchronize());
  return content;
}

void *TestRun::address(uint32_t buffer) const {
  return static_cast<std::byte *>(arena.data()) + plan->buffers[buffer].offset;
}

Result<std::vector<std::byte>> TestRun::bytes(uint32_t buffer) {
  const Buffer &b = plan->buffers[buffer];
  return download(b.offset, b.bytes);
}

Result<TestTensor> TestRun::read(uint32_t buffer) {
  auto content = bytes(buffer);
  HALFTONE_RETURN_IF_ERROR(content);
  const Buffer &b = plan->buffers[buffer];
  return decode(b.type, b.shape, *content);
}

Result<bool> TestRun::gapsUntouched() {
  auto content = download(0, arena.bytes());
  HALFTONE_RETURN_IF_ERROR(content);
  for (const Buffer &buffer : plan->buffers)
    std::fill_n(content->begin() + static_cast<ptrdiff_t>(buffer.offset),
                buffer.bytes, kUnwritten);
  return std::all_of(content->begin(), content->end(),
                     [](std::byte value) { return value == kUnwritten; });
}

} // namespace halftone::runtime::test
