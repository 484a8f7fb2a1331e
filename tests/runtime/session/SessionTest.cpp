// SPDX-License-Identifier: Apache-2.0
// Sessions as a whole: devices, memory, targets, tracing and timing.
#include "runtime/data/Convert.h"
#include "runtime/session/Bench.h"
#include "runtime/session/Trace.h"
#include "tests/runtime/session/SessionFixture.h"

#include <set>

using namespace halftone::runtime;
using namespace halftone::test;

namespace {
TEST_F(SessionTest, RefusesDevicesThatAreNotThere) {
  make();
  SessionOptions wanted;
  wanted.device = "cuda:99";
  EXPECT_NE(refusal(wanted).find("cuda:99"), std::string::npos);
  wanted.device = "tpu";
  EXPECT_NE(refusal(wanted).find("no device 'tpu'"), std::string::npos);
}

TEST_F(SessionTest, TracesEveryStepWithItsOperandsAsTheyWere) {
  make({.weightsFile = "w.safetensors"});
  std::unique_ptr<Session> session = open();
  DataSet data = bind(*session, batch());
  std::vector<std::string> nodes;
  std::vector<float> w, next;
  Status status = traceProgram(
      *session, data, ProgramKind::Train, [&](const TracedStep &step) {
        nodes.push_back(step.step.node);
        if (step.step.node == "assign w") {
          next = toFloats(step.inputs[0]);
          w = toFloats(step.outputs[0]);
        }
        if (step.step.node == "count") {
          // The bias is "step" before it is written.
          EXPECT_EQ(toFloats(step.inputs[2]), std::vector<float>{0});
        }
        return Status();
      });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(nodes.size(), session->plan().train.steps.size());
  EXPECT_EQ(w, (std::vector<float>{0, -0.5, -1}));
  EXPECT_EQ(w, next);

  std::filesystem::create_directory(folder / "trace");
  ASSERT_TRUE(
      writeTrace(*session, data, ProgramKind::Eval, folder / "trace").ok());
  Result<SafetensorsFile> file =
      readSafetensors(folder / "trace/00000.safetensors");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->metadata["node"], "linear");
  EXPECT_EQ(file->metadata["kind"], "matmul");
  EXPECT_EQ(file->metadata["phase"], "forward");
  EXPECT_EQ(file->metadata["inputs"], "x\nw");
  EXPECT_EQ(toFloats(file->arrays["in.1"]), w);
  EXPECT_EQ(file->arrays["out.0"].shape, (Shape{2, 1}));
}

TEST_F(SessionTest, BenchTimesStepsOnMadeUpData) {
  make();
  std::unique_ptr<Session> session = open();
  ArrayMap arrays = makeBenchData(session->plan(), 1);
  arrays["skip"] = floats({1}, {0});
  DataSet data = bind(*session, arrays);
  Result<BenchResult> result = bench(*session, data, 2, 4);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->milliseconds.size(), 4u);
  EXPECT_LE(result->milliseconds.front(), result->median());
  EXPECT_GT(result->peakBytes, 0u);
  EXPECT_EQ(result->skipped, 0);
  Result<std::vector<NodeTime>> times = benchByNode(*session, data, 3);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->size(), session->plan().train.steps.size());
  EXPECT_EQ(times->front().steps, 1);
}

TEST(BenchData, IsWhatTheInputsAllow) {
  Plan plan{};
  plan.batch = 2;
  plan.arenas = {{"inputs", ArenaKind::Inputs, 4096}};
  plan.buffers = {{"ids", 0, 0, ElementType::I64, {2, 3}, 6, 48}};
  plan.inputs = {
      {"ids", 0, Input::Kind::Data, 0, 0, {}, {{0, 1, -2, 1}, {2, 3, 10, 12}}}};
  std::set<int64_t> first, last;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    HostArray ids = makeBenchData(plan, seed).at("ids");
    for (uint64_t row : {0, 3}) {
      first.insert(integerAt(ids, row));
      EXPECT_EQ(integerAt(ids, row + 1), 0);
      last.insert(integerAt(ids, row + 2));
    }
  }
  EXPECT_EQ(first, (std::set<int64_t>{-2, -1, 0, 1}));
  EXPECT_EQ(last, (std::set<int64_t>{10, 11, 12}));
}

TEST_F(SessionTest, AnEvalSessionHasNoMemoryForTraining) {
  make();
  SessionOptions wanted;
  wanted.programs = {ProgramKind::Eval};
  std::unique_ptr<Session> session = open(wanted);
  EXPECT_FALSE(session->readState("step")->has_value());
  EXPECT_LT(session->device().memory()->usedBytes,
            open()->device().memory()->usedBytes);
}

TEST_F(SessionTest, RefusesPlansThatDoNotFitIntoMemory) {
  halftone::proto::Plan plan = makeLinearPlan();
  plan.mutable_arenas(5)->set_bytes(uint64_t(1) << 46);
  ASSERT_TRUE(writePlan(plan, folder / "linear.plan").ok());
  Result<std::unique_ptr<Session>> session =
      Session::open(folder / "linear.plan", {}, notice);
  EXPECT_EQ(session.status().code(), StatusCode::OutOfMemory);
  EXPECT_TRUE(session.status().message().starts_with("the plan needs 7036874"))
      << session.status().message();
}

TEST_F(SessionTest, RefusesPlansForAnotherTarget) {
  halftone::proto::Plan plan = makeLinearPlan();
  plan.set_target("cuda");
  ASSERT_TRUE(writePlan(plan, folder / "linear.plan").ok());
  SessionOptions wanted;
  wanted.device = "cpu";
  EXPECT_EQ(refusal(wanted),
            "the plan was compiled for 'cuda', the device 'cpu' runs 'cpu' "
            "plans; compile it with --target cpu or choose another --device");
}
} // namespace
