// SPDX-License-Identifier: Apache-2.0
// Every engine that a convolution may be given, not only the one it gets.
// Under compute-sanitizer's racecheck this shows whose kernels race.
#include "runtime/device/cuda/CudaContext.h"
#include "runtime/libs/cudnn/ConvolutionCall.h"
#include "runtime/libs/cudnn/ConvolutionRoute.h"
#include "tests/device/DeviceTest.h"
#include "tests/device/OneConvolution.h"

#include <fmt/ranges.h>
#include <set>

namespace halftone::runtime::test {
namespace {

using enum ElementType;
using Direction = Convolution::Direction;

cudnn::Problem lowProblem(Direction direction) {
  cudnn::Problem problem{};
  problem.direction = direction;
  for (cudnn::Tensor &tensor : problem.tensors)
    tensor.type = BF16;
  return problem;
}

cudnn::EngineConfig strided(int64_t tile) {
  return {
      .engine = 73,
      .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE},
      .knobs = {{CUDNN_KNOB_TYPE_TILE_SIZE, tile}, {CUDNN_KNOB_TYPE_TILEK, 1}}};
}

TEST(EngineConfig, ThoseThatRaceAreNotAllowed) {
  cudnn::Problem gradient = lowProblem(Direction::DataGradient);
  for (int64_t tile : {3, 6, 16})
    EXPECT_TRUE(isAllowed(strided(tile), gradient)) << strided(tile).name();
  for (int64_t tile : {0, 4, 7, 99})
    EXPECT_FALSE(isAllowed(strided(tile), gradient)) << strided(tile).name();
  // Numbers count for a direction each.
  EXPECT_TRUE(isAllowed(strided(4), lowProblem(Direction::Forward)));
  cudnn::EngineConfig other = strided(4);
  other.engine = 64;
  EXPECT_TRUE(isAllowed(other, gradient));
}

TEST(EngineConfig, ThoseThatRoundOperandsOrDoNotRepeatAreNotAllowed) {
  cudnn::Problem problem = lowProblem(Direction::Forward);
  cudnn::EngineConfig config = strided(3);
  EXPECT_TRUE(isExact(config, problem));
  // Float32 numbers on tensor cores are TF32.
  problem.tensors[cudnn::X].type = F32;
  EXPECT_FALSE(isExact(config, problem));
  problem.fitsTf32 = true;
  EXPECT_TRUE(isExact(config, problem));
  for (auto note : {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC,
                    CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION,
                    CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_FFT,
                    CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}) {
    config.notes = {note};
    EXPECT_FALSE(isExact(config, problem)) << note;
  }
}

TEST(EngineConfig, ThoseThatAddInALowTypeAreNotAllowed) {
  cudnn::EngineConfig config{.engine = 47, .notes = {}, .knobs = {}};
  EXPECT_FALSE(isAllowed(config, lowProblem(Direction::WeightGradient)));
  EXPECT_TRUE(isAllowed(config, lowProblem(Direction::Forward)));
}

TEST(EngineConfig, NamesAreThoseOfCudnnsLog) {
  EXPECT_EQ(strided(6).name(), "eng73_k2=6_k13=1");
}

class CudnnEnginesTest : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped())
      return;
    auto opened = cuda::CudaContext::open(0);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    context = std::move(*opened);
    ASSERT_TRUE(context->enter().ok());
    auto handle =
        cudnn::Handle::open(context->driver, context->stream(Queue::Compute));
    ASSERT_TRUE(handle.ok()) << handle.status().message();
    cudnn = std::move(*handle);
  }

  /// Runs every engine that `filter` lets pass; gives how many there were.
  size_t checkAll(const ConvolutionCase &c, const OneConvolution::Form &form,
                  const std::function<cudnn::EngineFilter> &filter) {
    SCOPED_TRACE(testing::Message() << c << form);
    OneConvolution made(device->info(), c, form);
    ExactSums exact = made.exact();
    auto run = runPlan(made.plan);
    auto geometry = convolutionGeometry(made.plan.plan, made.step());
    if (!run || !geometry.ok())
      return 0;
    cudnn::Problem problem =
        cudnn::problemOf(*geometry, cudnn::Route{}, {256, 256, 256});
    std::set<std::string> seen;
    auto next = [&](const cudnn::EngineConfig &config,
                    const cudnn::Problem &problem) {
      return filter(config, problem) && seen.insert(config.name()).second;
    };
    for (size_t count = 0;; ++count) {
      auto plan = buildPlan(cudnn->library, cudnn->handle, problem, next);
      if (!plan.ok())
        return count;
      names.insert((*plan)->engine.name());
      SCOPED_TRACE((*plan)->engine.name());
      Status status =
          execute(**plan,
                  {run->address(geometry->x), run->address(geometry->w),
                   run->address(geometry->y)},
                  made, *run);
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(withinOneRounding(*run->read(made.output), exact));
      EXPECT_TRUE(*run->gapsUntouched());
    }
  }

  Status execute(const cudnn::ConvolutionPlan &plan,
                 const std::array<void *, 3> &addresses,
                 const OneConvolution &made, const TestRun &run) {
    // What an engine leaves out is not a number afterwards.
    const std::byte kOnes{0xff};
    HALFTONE_RETURN_IF_ERROR(device->fill(
        Queue::Compute, run.address(made.output), std::span(&kOnes, 1),
        made.plan.plan.buffers[made.output].bytes));
    auto workspace = device->allocate(plan.workspaceBytes, "workspace");
    HALFTONE_RETURN_IF_ERROR(workspace);
    HALFTONE_RETURN_IF_ERROR(device->synchronize());
    cudnn::Descriptor pack(cudnn->library,
                           CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    const std::array<int64_t, 3> ids{cudnn::X, cudnn::W, cudnn::Y};
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const int64_t>(ids));
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
             std::span<void *const>(addresses));
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace->data());
    HALFTONE_RETURN_IF_ERROR(pack.finalize("binding a convolution"));
    HALFTONE_RETURN_IF_ERROR(
        toStatus(cudnn->library,
                 cudnn->library.execute(cudnn->handle, plan.get(), pack.get()),
                 "running a convolution"));
    return context->synchronize(Queue::Compute);
  }

  void TearDown() override {
    if (!names.empty())
      RecordProperty("engines", fmt::format("{}", fmt::join(names, " ")));
  }

  std::set<std::string> names; ///< Of the engines that ran.
  std::unique_ptr<cuda::CudaContext> context;
  std::unique_ptr<cudnn::Handle> cudnn;
};

/// Windows and points, with and without stride, few and many channels.
const std::vector<ConvolutionCase> kCases = {
    {4, 8, 16, 1, {16, 16}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {4, 8, 16, 1, {16, 16}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
    {2, 64, 64, 1, {14, 14}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {2, 64, 128, 1, {14, 14}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
    {4, 8, 8, 1, {16, 16}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 64, 64, 1, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
};

// One test each, so that a sanitizer can run them side by side.
#define HALFTONE_ENGINES(NAME, DIRECTION, IN, OUT)                             \
  TEST_P(CudnnEnginesTest, NAME) {                                             \
    for (const ConvolutionCase &c : kCases)                                    \
      EXPECT_GT(checkAll(c, {Direction::DIRECTION, true, IN, OUT},             \
                         cudnn::isAllowed),                                    \
                0u);                                                           \
  }
HALFTONE_ENGINES(ForwardFloat32, Forward, F32, F32)
HALFTONE_ENGINES(ForwardFloat16, Forward, F16, F16)
HALFTONE_ENGINES(ForwardBfloat16, Forward, BF16, BF16)
HALFTONE_ENGINES(DataGradientFloat32, DataGradient, F32, F32)
HALFTONE_ENGINES(DataGradientFloat16, DataGradient, F16, F16)
HALFTONE_ENGINES(DataGradientBfloat16, DataGradient, BF16, BF16)
HALFTONE_ENGINES(WeightGradientFloat32, WeightGradient, F32, F32)
HALFTONE_ENGINES(WeightGradientFloat16, WeightGradient, F16, F16)
HALFTONE_ENGINES(WeightGradientBfloat16, WeightGradient, BF16, BF16)
HALFTONE_ENGINES(WeightGradientFloat16ToFloat32, WeightGradient, F16, F32)
HALFTONE_ENGINES(WeightGradientBfloat16ToFloat32, WeightGradient, BF16, F32)

/// To be run under racecheck, to see whether races() is still needed.
TEST_P(CudnnEnginesTest, DISABLED_ThoseThatRace) {
  size_t count = 0;
  for (const ConvolutionCase &c : kCases)
    for (ElementType type : {F16, BF16})
      count += checkAll(c, {Direction::DataGradient, true, type, type},
                        cudnn::races);
  EXPECT_GT(count, 0u);
}

INSTANTIATE_TEST_SUITE_P(Devices, CudnnEnginesTest, testing::Values("cuda:0"),
                         deviceLabel);

} // namespace
} // namespace halftone::runtime::test
