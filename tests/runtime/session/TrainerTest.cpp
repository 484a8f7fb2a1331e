// SPDX-License-Identifier: Apache-2.0
// Training, gradients and evaluation with numbers worked out by hand: rows (1,
// 2, 3) and (3, 4, 5) of x have the mean (2, 3, 4), which is the gradient.
#include "runtime/session/Evaluator.h"
#include "runtime/session/Gradients.h"
#include "tests/runtime/session/SessionFixture.h"

#include <cmath>

using namespace halftone::runtime;
using namespace halftone::test;

namespace {
TEST_F(SessionTest, TrainsByHandCheckedSteps) {
  make({.weightsFile = "w.safetensors"});
  std::unique_ptr<Session> session = open();
  DataSet data = bind(*session, batch());
  ASSERT_TRUE(train(*session, data, 0, 3).ok());
  ASSERT_EQ(reports.size(), 3u);
  // (2, 3, 4) . w with w = 1 - 0.5 k (2, 3, 4): 9, then down by 14.5 a step.
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(reports[step].step, step + 1);
    EXPECT_FLOAT_EQ(reports[step].loss, 9 - 14.5 * step);
    EXPECT_EQ(reports[step].lr, 0.5);
    EXPECT_EQ(reports[step].scale, 1);
    EXPECT_TRUE(reports[step].applied);
    EXPECT_TRUE(std::isnan(reports[step].gradNorm));
  }
  EXPECT_EQ(parameter(*session, 0), (std::vector<float>{-2, -3.5, -5}));
  EXPECT_EQ(**session->readState("step"), 3);
}

TEST_F(SessionTest, StopsAfterSkipsThatNothingHelps) {
  make({.weightsFile = "w.safetensors"});
  std::unique_ptr<Session> session = open();
  ArrayMap arrays = batch(1);
  arrays["x"] = floats({2, 3}, {1, 2, 3, 3, INFINITY, 5});
  DataSet data = bind(*session, arrays);
  Status status = train(*session, data, 0, 100);
  EXPECT_EQ(status.code(), StatusCode::NonFinite);
  EXPECT_EQ(status.message(),
            "nothing was trained: each of the 5 steps was skipped, because its "
            "gradients were not finite: the first value that is not finite is "
            "in the data, input 'x'; mend the data (the loss scale is 1)");
  ASSERT_EQ(reports.size(), 5u);
  EXPECT_FALSE(reports[4].applied);
  EXPECT_EQ(reports[0].firstBad, "w");
}

TEST_F(SessionTest, NamesTheStepWhereNumbersOverflow) {
  make({.weightsFile = "w.safetensors"});
  writeWeights(folder / "w.safetensors", {3e38f, 3e38f, 3e38f});
  std::unique_ptr<Session> session = open();
  DataSet data = bind(*session, batch(1));
  Status status = train(*session, data, 0, 100);
  EXPECT_NE(status.message().find(
                "the first value that is not finite is in 'y' (float32 [2, "
                "1]), written by node 'linear'; lower the learning rate, or "
                "compile with more of the graph in fp32"),
            std::string::npos)
      << status.message();
}

TEST_F(SessionTest, UnnamedValuesAreDescribedByTheirNode) {
  make({.weightsFile = "w.safetensors"});
  halftone::proto::Plan plan = makeLinearPlan({.weightsFile = "w.safetensors"});
  for (halftone::proto::Buffer &buffer : *plan.mutable_buffers())
    if (buffer.name() == "y")
      buffer.clear_name();
  ASSERT_TRUE(writePlan(plan, folder / "linear.plan").ok());
  writeWeights(folder / "w.safetensors", {3e38f, 3e38f, 3e38f});
  std::unique_ptr<Session> session = open();
  DataSet data = bind(*session, batch(1));
  Status status = train(*session, data, 0, 100);
  EXPECT_NE(status.message().find("in an unnamed float32 [2, 1] value, written "
                                  "by node 'linear'; "),
            std::string::npos)
      << status.message();
}

TEST_F(SessionTest, StepsBeforeTheSkipsAreNotForgotten) {
  make({.weightsFile = "w.safetensors"});
  std::unique_ptr<Session> session = open();
  DataSet good = bind(*session, batch()), bad = bind(*session, batch(1));
  Result<std::unique_ptr<Trainer>> trainer = Trainer::create(
      *session, good, BatchOrder(good.rows(), good.batch(), 1, true));
  ASSERT_TRUE(trainer.ok());
  ReportSink sink = [](const StepReport &) -> Status { return {}; };
  EXPECT_TRUE((*trainer)->checkTrained().ok());
  ASSERT_TRUE((*trainer)->step(sink).ok());
  ASSERT_TRUE((*trainer)->finish(sink).ok());
  EXPECT_TRUE((*trainer)->checkTrained().ok());
  ASSERT_EQ(train(*session, bad, 0, 4).code(), StatusCode::Ok);
  trainer = Trainer::create(*session, bad,
                            BatchOrder(bad.rows(), bad.batch(), 1, true));
  ASSERT_TRUE((*trainer)->step(sink).ok());
  ASSERT_TRUE((*trainer)->finish(sink).ok());
  EXPECT_TRUE((*trainer)->checkTrained().message().starts_with(
      "nothing was trained: each of the 1 steps was skipped"));
}

TEST_F(SessionTest, EvaluationSaysWhyThereIsNoLoss) {
  make({.weightsFile = "w.safetensors"});
  std::unique_ptr<Session> session = open();
  ArrayMap arrays = batch();
  arrays["x"] = floats({4, 3}, {1, 2, 3, 3, 1, 5, 1, 2, NAN, 3, 1, 5});
  arrays.erase("skip");
  DataSet data = bind(*session, arrays, ProgramKind::Eval);
  Result<EvalResult> result = evaluate(*session, data, notice);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(std::isnan(result->loss));
  EXPECT_EQ(result->noLoss, "the first value that is not finite is in the "
                            "data, input 'x'; mend the data");
}

TEST_F(SessionTest, GradientsAreUnscaledAndUnreachableOnesZero) {
  make({.lossScale = 8, .weightsFile = "w.safetensors"});
  std::unique_ptr<Session> session = open();
  DataSet data = bind(*session, batch());
  Result<Gradients> result = computeGradients(*session, data, notice);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->scale, 8);
  EXPECT_EQ(toFloats(result->arrays.at("grad.w")),
            (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(result->arrays.at("grad.w").shape, (Shape{3, 1}));
  EXPECT_EQ(toFloats(result->arrays.at("grad.idle")),
            (std::vector<float>{0, 0}));
  EXPECT_EQ(toFloats(result->arrays.at("loss")), std::vector<float>{9});
  EXPECT_EQ(result->arrays.size(), 3u);
  // Nothing was updated.
  EXPECT_EQ(parameter(*session, 0), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(**session->readState("step"), 0);
}

TEST_F(SessionTest, GradientsComeWithALossThatTheOptimizerFinishes) {
  // Fusion may put the end of the loss into a step of the optimizer.
  make({.weightsFile = "w.safetensors"});
  halftone::proto::Plan plan = makeLinearPlan({.weightsFile = "w.safetensors"});
  plan.mutable_train()->mutable_steps(1)->set_phase(halftone::proto::OPTIMIZER);
  ASSERT_TRUE(writePlan(plan, folder / "linear.plan").ok());
  std::unique_ptr<Session> session = open();
  DataSet data = bind(*session, batch());
  Result<Gradients> result = computeGradients(*session, data, notice);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(toFloats(result->arrays.at("loss")), std::vector<float>{9});
  EXPECT_EQ(parameter(*session, 0), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(**session->readState("step"), 0);
}

TEST_F(SessionTest, GradientsLowerTheScaleUntilTheyAreFinite) {
  // 4 * 2^16 overflows float16 (65504); 4 * 2^13 = 32768 is the first that does
  // not.
  make({.lossScale = 65536,
        .halfGradient = true,
        .weightsFile = "w.safetensors"});
  std::unique_ptr<Session> session = open();
  DataSet data = bind(*session, batch());
  Result<Gradients> result = computeGradients(*session, data, notice);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->scale, 8192);
  EXPECT_EQ(toFloats(result->arrays.at("grad.w")),
            (std::vector<float>{2, 3, 4}));
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0], "the loss scale was lowered from 65536 to 8192 to keep "
                        "the gradients finite");
}

TEST_F(SessionTest, EvaluatesAndPredictsInOrder) {
  make({.weightsFile = "w.safetensors"});
  std::unique_ptr<Session> session = open();
  ArrayMap arrays{
      {"x", floats({5, 3}, {1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0, 5, 0, 0})}};
  DataSet data = bind(*session, arrays, ProgramKind::Eval);
  Result<EvalResult> result = evaluate(*session, data, notice);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_FLOAT_EQ(result->loss,
                  2.5); // Rows 1 to 4; the last one does not fill a batch.
  EXPECT_EQ(result->rows, 4);
  EXPECT_EQ(result->count, 4u);
  EXPECT_FALSE(result->accuracy.has_value());
  EXPECT_EQ(notices.back(), "the last 1 rows do not fill a batch of 2 and are "
                            "left out: this plan cannot mask rows");
  Result<ArrayMap> outputs = predict(*session, data, notice);
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(outputs->at("y").shape, (Shape{5, 1}));
  EXPECT_EQ(toFloats(outputs->at("y")), (std::vector<float>{1, 2, 3, 4, 5}));
}

TEST(CountCorrect, TakesTheLargestLogitAlongTheClassAxis) {
  // [2, 3, 2]: classes in the middle.
  HostArray logits = floats({2, 3, 2}, {0, 9, 5, 1, 2, 1, //
                                        1, 1, 1, 1, 0, 2});
  HostArray labels = integers({2, 2}, {1, 0, 0, -100});
  LabelCount count = countCorrect(logits, labels, 1, -100);
  EXPECT_EQ(count.labels, 3u);
  EXPECT_EQ(count.correct, 3u); // Ties go to the lowest class.
  logits = floats({2, 3}, {0, 1, 2, 0, 1, 2});
  count = countCorrect(logits, integers({2}, {2, 1}), -1, -100);
  EXPECT_EQ(count.labels, 2u);
  EXPECT_EQ(count.correct, 1u);
}
} // namespace
