// SPDX-License-Identifier: Apache-2.0
// Sessions on a GPU over the linear plan, whose numbers can be worked out by
// hand: x rows (1, 2, 3) and (3, 4, 5) have mean (2, 3, 4), which is the
// gradient of w; the learning rate is 0.5.
#include "runtime/plan/PlanReader.h"
#include "runtime/plan/PlanWriter.h"
#include "runtime/session/Checkpoint.h"
#include "runtime/session/Gradients.h"
#include "runtime/session/Trainer.h"
#include "tests/runtime/LinearPlan.h"
#include "tests/runtime/TemporaryFolder.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace halftone::runtime;
using namespace halftone::test;

namespace {

class CudaSessionTest : public testing::Test {
protected:
  void SetUp() override {
    if (auto device = openDevice("cuda:0"); !device.ok())
      GTEST_SKIP() << device.status().message();
    halftone::proto::Plan plan = makeLinearPlan();
    plan.set_target("cuda");
    plan.set_architecture("sm_80");
    ASSERT_TRUE(writePlan(plan, folder / "linear.plan").ok());
    session = open();
  }

  std::unique_ptr<Session> open() {
    auto opened = Session::open(folder / "linear.plan", {}, notice);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? std::move(*opened) : nullptr;
  }

  DataSet data(Session &session) {
    auto floats = [](Shape shape, const std::vector<float> &values) {
      std::vector<std::byte> bytes(values.size() * sizeof(float));
      std::memcpy(bytes.data(), values.data(), bytes.size());
      return makeArray(DataType::F32, std::move(shape), std::move(bytes));
    };
    ArrayMap arrays{{"x", floats({2, 3}, {1, 2, 3, 3, 4, 5})},
                    {"skip", floats({1}, {0})}};
    auto bound = DataSet::bind(arrays, "data", session.plan(),
                               ProgramKind::Train, true, notice);
    EXPECT_TRUE(bound.ok()) << bound.status().message();
    return std::move(*bound);
  }

  static std::vector<float> weights(Session &session) {
    auto bytes = session.executor().read(session.plan().parameters[0].buffer);
    std::vector<float> values(bytes->size() / sizeof(float));
    std::memcpy(values.data(), bytes->data(), bytes->size());
    return values;
  }

  /// The losses of the next `steps` steps.
  std::vector<double> train(Session &session, const DataSet &data,
                            int64_t steps, int64_t done = 0) {
    std::vector<double> losses;
    ReportSink sink = [&](const StepReport &report) -> Status {
      losses.push_back(report.loss);
      EXPECT_TRUE(report.applied);
      return {};
    };
    auto trainer = Trainer::create(
        session, data, BatchOrder(data.rows(), data.batch(), 1, false), done);
    EXPECT_TRUE(trainer.ok()) << trainer.status().message();
    for (int64_t i = 0; i < steps; ++i)
      EXPECT_TRUE((*trainer)->step(sink).ok());
    EXPECT_TRUE((*trainer)->finish(sink).ok());
    return losses;
  }

  TemporaryFolder folder;
  NoticeSink notice = [](const std::string &) {};
  std::unique_ptr<Session> session;
};

TEST_F(CudaSessionTest, TrainsAsByHand) {
  std::vector<float> start = weights(*session);
  DataSet set = data(*session);
  std::vector<double> losses = train(*session, set, 12);
  double loss = 2 * start[0] + 3 * start[1] + 4 * start[2];
  ASSERT_EQ(losses.size(), 12u);
  for (size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(losses[i], loss - 14.5 * static_cast<double>(i), 1e-3);
  std::vector<float> end = weights(*session);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(end[i], start[i] - 6 * static_cast<double>(i + 2), 1e-4);
  EXPECT_EQ(**session->readState("step"), 12);
}

TEST_F(CudaSessionTest, TwoThousandStepsTakeNoMoreMemory) {
  DataSet set = data(*session);
  train(*session, set, 10);
  uint64_t before = session->device().memory()->freeBytes;
  train(*session, set, 2000, 10);
  EXPECT_GE(session->device().memory()->freeBytes + (4 << 20), before);
}

TEST_F(CudaSessionTest, GradientsLeaveEverythingAsItWas) {
  std::vector<float> start = weights(*session);
  DataSet set = data(*session);
  auto gradients = computeGradients(*session, set, notice);
  ASSERT_TRUE(gradients.ok()) << gradients.status().message();
  const HostArray &w = gradients->arrays.at("grad.w");
  std::vector<float> values(3);
  ASSERT_EQ(w.bytes.size(), values.size() * sizeof(float));
  std::memcpy(values.data(), w.bytes.data(), w.bytes.size());
  EXPECT_EQ(values, (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(weights(*session), start);
}

TEST_F(CudaSessionTest, ResumedRunsAreBitEqual) {
  DataSet set = data(*session);
  train(*session, set, 5);
  CheckpointInfo info{5, 5, session->seed(), set.rows(), set.batch(), false};
  ASSERT_TRUE(saveCheckpoint(*session, folder / "checkpoint", info).ok());
  train(*session, set, 5, 5);
  std::vector<float> straight = weights(*session);
  auto resumed = open();
  ASSERT_TRUE(loadCheckpoint(*resumed, folder / "checkpoint").ok());
  train(*resumed, set, 5, 5);
  EXPECT_EQ(weights(*resumed), straight);
}

} // namespace
