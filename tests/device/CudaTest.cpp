// SPDX-License-Identifier: Apache-2.0
// What only the CUDA device promises: graphs change nothing, compiled kernels
// are kept and distrusted, faults name the node, nothing leaks.
#include "runtime/device/cuda/CudaDevice.h"
#include "tests/device/DeviceTest.h"
#include "tests/device/ProductBound.h"
#include "tests/device/TestKernels.h"
#include "tests/runtime/TemporaryFolder.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace halftone::runtime::test {
namespace {

using enum ElementType;

/// Sets an environment variable for a while.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name); }

private:
  const char *name;
};

class CudaTest : public DeviceTest {
protected:
  /// Products, kernels and copies that feed on each other, so that repeats give
  /// ever new values.
  TestPlan chain(uint32_t &result) {
    TestPlan plan(device->info());
    uint32_t x = plan.input(randomTensor(F32, {64, 64}, 1));
    uint32_t y = plan.output(F32, {64, 64}), low = plan.output(F16, {64, 64});
    uint32_t w = plan.input(randomTensor(F16, {64, 64}, 2));
    uint32_t z = plan.input(randomTensor(F16, {64, 64}, 3));
    result = x;
    MatMul square = plainProduct(64, 64, 64);
    square.transposeB = true;
    plan.step("Half", {z}, {low},
              Launch{plan.kernel("half", ptxCode("half", 4096), 4096)});
    plan.step("Product", {low, w}, {y}, square);
    plan.step("Axpy", {y, x}, {x},
              Launch{plan.kernel("axpy", ptxCode("axpy", 4096), 4096)});
    plan.step("Keep", {low}, {z}, Copy{});
    return plan;
  }
};

TEST_P(CudaTest, GraphsAndStepByStepGiveBitEqualResults) {
  uint32_t result = 0;
  TestPlan plan = chain(result);
  std::vector<std::vector<std::byte>> results;
  for (auto [name, value] : {std::pair("HALFTONE_CUDA_GRAPHS", "1"),
                             {"HALFTONE_CUDA_GRAPHS", "0"},
                             {"HALFTONE_CUDA_DEBUG", "1"}}) {
    Variable mode(name, value);
    auto run = runPlan(plan);
    ASSERT_TRUE(run);
    for (int i = 0; i < 9; ++i)
      ASSERT_TRUE(run->runAll().ok());
    results.push_back(*run->bytes(result));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST_P(CudaTest, ThousandsOfRunsAndManyPlansLeakNothing) {
  uint32_t result = 0;
  TestPlan plan = chain(result);
  auto freeAfter = [&](int plans, int runs) {
    for (int i = 0; i < plans; ++i) {
      auto run = runPlan(plan);
      for (int j = 0; j < runs; ++j)
        EXPECT_TRUE(run->runAll().ok());
    }
    return device->memory()->freeBytes;
  };
  uint64_t before = freeAfter(3, 3);
  uint64_t after = freeAfter(20, 100);
  // The driver takes memory in pieces of 2 MiB.
  EXPECT_GE(after + (4 << 20), before);
  EXPECT_EQ(device->memory()->usedBytes, 0u);
}

TEST_P(CudaTest, Tf32OnlyWhereTheStepAllowsIt) {
  constexpr int64_t kSize = 256;
  TestTensor a = randomTensor(F32, {kSize, kSize}, 1),
             b = randomTensor(F32, {kSize, kSize}, 2);
  double worst[2] = {};
  for (bool tf32 : {false, true}) {
    TestPlan plan(device->info());
    uint32_t left = plan.input(a), right = plan.input(b);
    uint32_t c = plan.output(F32, {kSize, kSize});
    MatMul step = plainProduct(kSize, kSize, kSize);
    step.tf32 = tf32;
    plan.step("MatMul_0", {left, right}, {c}, step);
    auto run = runPlan(plan);
    ASSERT_TRUE(run);
    TestTensor result = *run->read(c);
    for (size_t i = 0; i < kSize; ++i)
      for (size_t j = 0; j < kSize; ++j) {
        double sum = 0;
        for (size_t k = 0; k < kSize; ++k)
          sum += a.values[i * kSize + k] * b.values[k * kSize + j];
        worst[tf32] =
            std::max(worst[tf32], std::abs(result.values[i * kSize + j] - sum));
      }
  }
  EXPECT_LT(worst[0], 2e-5);
  EXPECT_GT(worst[1], 2e-5);
  EXPECT_LT(worst[1], 2e-2);
}

TEST_P(CudaTest, WrongArgumentsAndBlocksAreRefusedByNode) {
  TestPlan plan(device->info());
  uint32_t x = plan.output(F32, {4});
  plan.step("Axpy_3", {x}, {x},
            Launch{plan.kernel("axpy", ptxCode("axpy", 4), 4)});
  Status status = TestRun::start(*device, plan).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidInput);
  EXPECT_NE(status.message().find("Axpy_3"), std::string::npos)
      << status.message();
}

TEST_P(CudaTest, CompiledKernelsAreKeptAndDamagedOnesMadeAnew) {
  halftone::test::TemporaryFolder folder;
  Variable cache("XDG_CACHE_HOME", folder.path.string());
  auto entries = [&] {
    std::vector<std::filesystem::path> files;
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(folder.path))
      if (entry.is_regular_file())
        files.push_back(entry.path());
    return files;
  };
  uint32_t result = 0;
  TestPlan plan = chain(result);
  auto first = runPlan(plan);
  ASSERT_TRUE(first);
  auto expected = *first->bytes(result);
  auto files = entries();
  ASSERT_EQ(files.size(), 2u);
  auto again = runPlan(plan);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again->bytes(result), expected);
  // A flipped bit, and half a file.
  std::fstream flipped(files[0],
                       std::ios::in | std::ios::out | std::ios::binary);
  flipped.seekp(200);
  flipped.put('\x5a');
  flipped.close();
  std::filesystem::resize_file(files[1],
                               std::filesystem::file_size(files[1]) / 2);
  auto repaired = runPlan(plan);
  ASSERT_TRUE(repaired);
  EXPECT_EQ(*repaired->bytes(result), expected);
  EXPECT_EQ(entries().size(), 2u);
}

TEST_P(CudaTest, DamagedCodeShowsTheDriversLog) {
  TestPlan plan(device->info());
  uint32_t x = plan.output(F32, {4});
  std::string code = ptxCode("increment", 4);
  code.insert(code.find("add.rn"), "nonsense.f32 ");
  plan.step("Increment", {}, {x}, Launch{plan.kernel("increment", code, 4)});
  Status status = TestRun::start(*device, plan).status();
  EXPECT_NE(status.message().find("log"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("syntax error"), std::string::npos)
      << status.message();
}

/// Runs a plan whose middle step writes to address 8, prints the message, and
/// ends the process: the context is lost with the fault.
[[noreturn]] void runIntoFault(const char *id) {
  auto device = openDevice(id);
  std::string code = ptxCode("increment", 1);
  size_t store = code.find("st.global.f32 [%rd1]");
  code.replace(store, 20, "mov.u64 %rd4, 8;\n  st.global.f32 [%rd4]");
  TestPlan plan((*device)->info());
  uint32_t x = plan.output(F32, {1});
  uint32_t good = plan.kernel("increment", ptxCode("increment", 1), 1);
  uint32_t bad = plan.kernel("increment", code, 1);
  plan.step("Before", {}, {x}, Launch{good});
  plan.step("Culprit", {}, {x}, Launch{bad});
  plan.step("After", {}, {x}, Launch{good});
  auto run = TestRun::start(**device, plan);
  Status status = run.ok() ? (*run)->runAll() : run.status();
  Status later = (*device)->synchronize();
  fprintf(stderr, "%s\n%s\n", status.message().c_str(),
          later.message() == status.message() ? "same again" : "other");
  std::_Exit(3);
}

TEST_P(CudaTest, KernelFaultsNameTheSteps) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(runIntoFault(GetParam()), testing::ExitedWithCode(3),
              "ILLEGAL_ADDRESS.*steps 0 to 2 of the train program.*Before"
              ".*After.*\n?same again");
}

TEST_P(CudaTest, DebugRunsNameTheStep) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Variable mode("HALFTONE_CUDA_DEBUG", "1");
  EXPECT_EXIT(runIntoFault(GetParam()), testing::ExitedWithCode(3),
              "Culprit: .*ILLEGAL_ADDRESS");
}

TEST(CudaArchitecture, PtxRunsOnItsOwnAndNewer) {
  using cuda::architectureCovers;
  EXPECT_TRUE(architectureCovers(90, ""));
  EXPECT_TRUE(architectureCovers(90, "sm_80"));
  EXPECT_TRUE(architectureCovers(90, "sm_90"));
  EXPECT_TRUE(architectureCovers(90, "sm_90a"));
  EXPECT_FALSE(architectureCovers(100, "sm_90a"));
  EXPECT_FALSE(architectureCovers(90, "sm_100"));
  for (const char *odd : {"sm_", "90", "sm_x", "sm_90b", "sm_99999"})
    EXPECT_FALSE(architectureCovers(90, odd)) << odd;
}

INSTANTIATE_TEST_SUITE_P(Devices, CudaTest, testing::Values("cuda:0"),
                         deviceLabel);

} // namespace
} // namespace halftone::runtime::test
