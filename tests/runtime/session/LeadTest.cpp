// SPDX-License-Identifier: Apache-2.0
// What the trainer reports, and leaves, where steps were queued ahead of the
// first that is reported.
#include "runtime/plan/PlanReader.h"
#include "tests/runtime/session/LateDevice.h"
#include "tests/runtime/session/SessionFixture.h"

#include <cmath>

namespace halftone::test {
namespace {

/// Steps of one row each, in order; the update happens in skipped ones too, and
/// the state "step" counts all that ran.
class LeadTest : public SessionTest {
protected:
  void SetUp() override {
    make({.batch = 1, .learningRate = 0, .weightsFile = "w.safetensors"});
    auto plan = readPlan(folder / "linear.plan");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    auto device = openDevice("cpu");
    ASSERT_TRUE(device.ok()) << device.status().message();
    auto opened = Session::create(
        std::make_unique<LateDevice>(std::move(*device)), *plan, {}, notice);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    session = std::move(*opened);
  }

  /// One step a row; rows in [begin, end) hold a NaN and are skipped.
  Status trainRows(int count, int begin, int end) {
    std::vector<float> x, skip;
    for (int i = 0; i < count; ++i) {
      bool isBad = begin <= i && i < end;
      x.insert(x.end(), {1, 2, isBad ? NAN : 3});
      skip.push_back(isBad);
    }
    DataSet data = bind(*session, {{"x", floats({count, 3}, x)},
                                   {"skip", floats({count}, skip)}});
    auto trainer =
        Trainer::create(*session, data, BatchOrder(data.rows(), 1, 1, false));
    HALFTONE_RETURN_IF_ERROR(trainer);
    ReportSink sink = [&](const StepReport &report) -> Status {
      reports.push_back(report);
      return {};
    };
    for (int i = 0; i < count; ++i)
      HALFTONE_RETURN_IF_ERROR((*trainer)->step(sink));
    return (*trainer)->finish(sink);
  }

  void expectAllReported() {
    EXPECT_EQ(**session->readState("step"), reports.size());
    for (size_t i = 0; i < reports.size(); ++i)
      EXPECT_EQ(reports[i].step, static_cast<int64_t>(i) + 1);
  }

  std::unique_ptr<Session> session;
};

TEST_F(LeadTest, StopsOnlyWhenEveryStepThatRanIsReported) {
  Status status = trainRows(40, 3, 40);
  EXPECT_EQ(status.code(), StatusCode::NonFinite);
  expectAllReported();
  size_t steps = reports.size();
  EXPECT_GT(steps, 8u) << "the host did not run ahead";
  EXPECT_LT(steps, 40u);
  EXPECT_TRUE(status.message().starts_with(
      "stopped at step " + std::to_string(steps) + ": " +
      std::to_string(steps - 3) + " steps in a row were skipped"))
      << status.message();
  EXPECT_NE(status.message().find("the data, input 'x'; mend the data"),
            std::string::npos)
      << status.message();
}

TEST_F(LeadTest, AStepAppliedBehindTheSkipsLetsTrainingGoOn) {
  Status status = trainRows(40, 3, 8);
  EXPECT_TRUE(status.ok()) << status.message();
  expectAllReported();
  ASSERT_EQ(reports.size(), 40u);
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(reports[i].applied, i < 3 || i >= 8);
}

} // namespace
} // namespace halftone::test
