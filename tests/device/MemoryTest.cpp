// SPDX-License-Identifier: Apache-2.0
// Memory, queues and events of every device.
#include "tests/device/DeviceTest.h"

#include <array>
#include <cstring>

namespace halftone::runtime::test {
namespace {

using MemoryTest = DeviceTest;

std::vector<std::byte> countingBytes(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>(i * 131 + i / 256);
  return bytes;
}

TEST_P(MemoryTest, DescribesItself) {
  const DeviceInfo &info = device->info();
  EXPECT_EQ(info.id, GetParam());
  EXPECT_EQ(info.id.substr(0, info.id.find(':')), info.target);
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.architecture.empty());
  EXPECT_GT(info.totalBytes, 1u << 20);
}

TEST_P(MemoryTest, BytesSurviveTheWayThereAndBack) {
  for (size_t size : {size_t{1}, size_t{255}, size_t{4097}, size_t{5 << 20}}) {
    auto memory = device->allocate(size, "a test");
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->data()) % 256, 0u);
    std::vector<std::byte> sent = countingBytes(size), received(size);
    ASSERT_TRUE(
        device->upload(Queue::Transfer, memory->data(), sent.data(), size)
            .ok());
    ASSERT_TRUE(device->synchronize().ok());
    ASSERT_TRUE(
        device->download(Queue::Compute, received.data(), memory->data(), size)
            .ok());
    ASSERT_TRUE(device->synchronize().ok());
    EXPECT_EQ(sent, received) << size;
  }
}

TEST_P(MemoryTest, StagingMemoryServesCopiesOrderedByEvents) {
  constexpr size_t kSize = 1 << 20;
  auto staging = device->allocateStaging(kSize);
  auto first = device->allocate(kSize, "a test");
  auto second = device->allocate(kSize, "a test");
  ASSERT_TRUE(staging.ok() && first.ok() && second.ok());
  std::vector<std::byte> sent = countingBytes(kSize), received(kSize);
  std::memcpy(staging->data(), sent.data(), kSize);

  ASSERT_TRUE(
      device->upload(Queue::Transfer, first->data(), staging->data(), kSize)
          .ok());
  auto uploaded = device->record(Queue::Transfer);
  ASSERT_TRUE(uploaded.ok());
  ASSERT_TRUE(device->waitFor(Queue::Compute, *uploaded).ok());
  ASSERT_TRUE(
      device->copy(Queue::Compute, second->data(), first->data(), kSize).ok());
  auto copied = device->record(Queue::Compute);
  ASSERT_TRUE(copied.ok());
  ASSERT_TRUE((*copied)->wait().ok());
  EXPECT_TRUE((*copied)->ready());
  ASSERT_TRUE(
      device->download(Queue::Transfer, received.data(), second->data(), kSize)
          .ok());
  ASSERT_TRUE(device->synchronize().ok());
  EXPECT_EQ(sent, received);
}

TEST_P(MemoryTest, FillRepeatsPatternsOfEverySize) {
  for (size_t width : {1, 2, 4, 8}) {
    constexpr size_t kCount = 1001;
    std::vector<std::byte> pattern = countingBytes(width), expected;
    for (size_t i = 0; i < kCount; ++i)
      expected.insert(expected.end(), pattern.begin(), pattern.end());
    auto memory = device->allocate(width * kCount, "a test");
    ASSERT_TRUE(memory.ok());
    ASSERT_TRUE(
        device->fill(Queue::Compute, memory->data(), pattern, kCount).ok());
    std::vector<std::byte> received(expected.size());
    ASSERT_TRUE(device
                    ->download(Queue::Compute, received.data(), memory->data(),
                               received.size())
                    .ok());
    ASSERT_TRUE(device->synchronize().ok());
    EXPECT_EQ(received, expected) << width;
  }
  std::array<std::byte, 3> odd{};
  EXPECT_FALSE(device->fill(Queue::Compute, nullptr, odd, 0).ok());
}

TEST_P(MemoryTest, UseAndPeakAreCounted) {
  uint64_t before = device->memory()->usedBytes;
  {
    auto memory = device->allocate(3 << 20, "a test");
    ASSERT_TRUE(memory.ok());
    EXPECT_GE(device->memory()->usedBytes, before + (3 << 20));
  }
  EXPECT_EQ(device->memory()->usedBytes, before);
  EXPECT_GE(device->memory()->peakBytes, before + (3 << 20));
}

TEST_P(MemoryTest, TooMuchIsRefusedWithItsPurposeAndSize) {
  uint64_t bytes = uint64_t{1} << 50;
  auto memory = device->allocate(bytes, "arena 'activations'");
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code(), StatusCode::OutOfMemory);
  EXPECT_NE(memory.status().message().find("arena 'activations'"),
            std::string::npos);
  EXPECT_NE(memory.status().message().find(std::to_string(bytes)),
            std::string::npos);
}

TEST_P(MemoryTest, NothingIsAllocatedForZeroBytes) {
  auto memory = device->allocate(0, "nothing");
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->data(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Devices, MemoryTest, allDevices(), deviceLabel);

} // namespace
} // namespace halftone::runtime::test
