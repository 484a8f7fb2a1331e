// SPDX-License-Identifier: Apache-2.0
// Sessions over the linear plan: weights, training, evaluation, gradients,
// tracing, checkpoints. The numbers are worked out by hand: x rows (1, 2, 3)
// and (3, 4, 5) have mean (2, 3, 4), which is the gradient.
#include "runtime/session/Bench.h"
#include "runtime/session/Checkpoint.h"
#include "runtime/session/Evaluator.h"
#include "runtime/session/Gradients.h"
#include "runtime/session/NonFinite.h"
#include "runtime/session/Trace.h"
#include "runtime/session/Trainer.h"
#include "runtime/session/Weights.h"

#include "runtime/data/Convert.h"
#include "runtime/data/Safetensors.h"
#include "runtime/plan/PlanReader.h"
#include "runtime/plan/PlanWriter.h"
#include "tests/runtime/LinearPlan.h"
#include "tests/runtime/TemporaryFolder.h"
#include "tests/runtime/data/Arrays.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace halftone::runtime;
using namespace halftone::test;

namespace {
class SessionTest : public ::testing::Test {
protected:
  /// Writes the plan, and its weights w = (1, 1, 1) and idle = (7, 8) where it
  /// names a file.
  void make(LinearPlanOptions wanted = {}) {
    ASSERT_TRUE(writePlan(makeLinearPlan(wanted), folder / "linear.plan").ok());
    if (!wanted.weightsFile.empty())
      writeWeights(folder / wanted.weightsFile, {1, 1, 1});
  }

  void writeWeights(const std::filesystem::path &path,
                    const std::vector<float> &values) {
    HostArray w = floats({int64_t(values.size()), 1}, values),
              idle = floats({2}, {7, 8});
    ASSERT_TRUE(
        writeSafetensors(path,
                         {makeEntry("w", w.type, w.shape, w.bytes),
                          makeEntry("idle", idle.type, idle.shape, idle.bytes)})
            .ok());
  }

  std::unique_ptr<Session> open(SessionOptions wanted = {}) {
    Result<std::unique_ptr<Session>> session =
        Session::open(folder / "linear.plan", wanted, notice);
    EXPECT_TRUE(session.ok()) << session.status().message();
    return session.ok() ? std::move(*session) : nullptr;
  }

  std::string refusal(SessionOptions wanted = {}) {
    Result<std::unique_ptr<Session>> session =
        Session::open(folder / "linear.plan", wanted, notice);
    return session.ok() ? "" : session.status().message();
  }

  DataSet bind(Session &session, const ArrayMap &arrays,
               ProgramKind program = ProgramKind::Train) {
    Result<DataSet> data =
        DataSet::bind(arrays, "data", session.plan(), program, true, notice);
    EXPECT_TRUE(data.ok()) << data.status().message();
    return std::move(*data);
  }

  ArrayMap batch(float skip = 0) {
    return {{"x", floats({2, 3}, {1, 2, 3, 3, 4, 5})},
            {"skip", floats({1}, {skip})}};
  }

  std::vector<float> parameter(Session &session, size_t index) {
    uint32_t buffer = session.plan().parameters[index].buffer;
    return toFloats(
        makeArray(DataType::F32, {}, *session.executor().read(buffer)));
  }

  /// Trains; gives the reports.
  Status train(Session &session, const DataSet &data, int64_t from,
               int64_t to) {
    reports.clear();
    BatchOrder order(data.rows(), data.batch(), session.seed(), true);
    Result<std::unique_ptr<Trainer>> trainer =
        Trainer::create(session, data, order, from);
    HALFTONE_RETURN_IF_ERROR(trainer);
    ReportSink sink = [&](const StepReport &report) -> Status {
      reports.push_back(report);
      return {};
    };
    for (int64_t step = from; step < to; ++step)
      HALFTONE_RETURN_IF_ERROR((*trainer)->step(sink));
    return (*trainer)->finish(sink);
  }

  TemporaryFolder folder;
  std::vector<std::string> notices;
  NoticeSink notice = [this](const std::string &text) {
    notices.push_back(text);
  };
  std::vector<StepReport> reports;
};

TEST_F(SessionTest, DrawsWeightsBySeedAndParameter) {
  make();
  std::vector<float> first = parameter(*open(), 0);
  EXPECT_EQ(first, parameter(*open(), 0));
  EXPECT_EQ(first, drawParameter({Distribution::Kind::Normal, 0, 1}, 1, 0, 3));
  SessionOptions other;
  other.seed = 2;
  EXPECT_NE(first, parameter(*open(other), 0));
  EXPECT_NE(first[0], parameter(*open(), 1)[0]);
  // A long draw begins as a short one does.
  std::vector<float> more =
      drawParameter({Distribution::Kind::Normal, 0, 1}, 1, 0, 9);
  EXPECT_EQ(first, std::vector<float>(more.begin(), more.begin() + 3));
  EXPECT_EQ(drawParameter({Distribution::Kind::Constant, 0.5, 9}, 1, 0, 2),
            (std::vector<float>{0.5f, 0.5f}));
}

TEST_F(SessionTest, LoadsTheWeightsBesideThePlan) {
  make({.weightsFile = "linear.weights.safetensors"});
  std::unique_ptr<Session> session = open();
  EXPECT_EQ(parameter(*session, 0), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(parameter(*session, 1), (std::vector<float>{7, 8}));
}

TEST_F(SessionTest, ChecksTheHashOfThePlansOwnWeights) {
  make({.weightsFile = "w.safetensors"});
  halftone::proto::Plan plan = makeLinearPlan({.weightsFile = "w.safetensors"});
  plan.set_weights_sha256(std::string(32, 'x'));
  ASSERT_TRUE(writePlan(plan, folder / "linear.plan").ok());
  EXPECT_EQ(refusal(), "'" + (folder / "w.safetensors").string() +
                           "' is not the weights file that this plan was "
                           "compiled with (its SHA-256 differs); compile again "
                           "or give it with --weights");
  SessionOptions given;
  given.weights = folder / "w.safetensors";
  EXPECT_EQ(refusal(given), "");
}

TEST_F(SessionTest, NamesMissingAndForeignWeights) {
  make({.weightsFile = "w.safetensors"});
  std::filesystem::remove(folder / "w.safetensors");
  EXPECT_EQ(refusal(), "the plan's weights file '" +
                           (folder / "w.safetensors").string() +
                           "' is missing; put it back beside the plan or give "
                           "another with --weights");
  HostArray w = floats({3}, {1, 2, 3}), extra = floats({1}, {1});
  std::filesystem::path other = folder / "other.safetensors";
  ASSERT_TRUE(writeSafetensors(other, {makeEntry("w", w.type, w.shape, w.bytes),
                                       makeEntry("extra", extra.type,
                                                 extra.shape, extra.bytes)})
                  .ok());
  SessionOptions given;
  given.weights = other;
  EXPECT_EQ(refusal(given),
            "'" + other.string() +
                "' does not hold this plan's weights; missing: 'idle'; not "
                "fitting: 'w' (expected float32 [3, 1], found float32 [3])");
  given.weights = folder.write("weights.pt", "x");
  EXPECT_EQ(refusal(given), "'" + (folder / "weights.pt").string() +
                                "': weights are a .safetensors file or a "
                                "folder that train wrote");
}

TEST_F(SessionTest, GivenWeightsMayBeWiderAndTellWhatIsUnused) {
  make();
  HostArray w = arrayOf<double>(DataType::F64, {3, 1}, {1, 2, 0.1}),
            idle = arrayOf<uint16_t>(DataType::BF16, {2}, {0x3f80, 0x4000}),
            extra = floats({1}, {1});
  std::filesystem::path path = folder / "weights.safetensors";
  ASSERT_TRUE(writeSafetensors(
                  path, {makeEntry("w", w.type, w.shape, w.bytes),
                         makeEntry("idle", idle.type, idle.shape, idle.bytes),
                         makeEntry("e", extra.type, extra.shape, extra.bytes)})
                  .ok());
  SessionOptions given;
  given.weights = folder.path; // A folder: its weights.safetensors.
  std::unique_ptr<Session> session = open(given);
  EXPECT_EQ(parameter(*session, 0), (std::vector<float>{1, 2, 0.1f}));
  EXPECT_EQ(parameter(*session, 1), (std::vector<float>{1, 2}));
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_TRUE(notices[0].starts_with("2 tensors of"));
  EXPECT_TRUE(notices[1].ends_with("are not used: 'e'"));
}

TEST_F(SessionTest, RefusesDevicesThatAreNotThere) {
  make();
  SessionOptions wanted;
  wanted.device = "cuda:99";
  EXPECT_NE(refusal(wanted).find("cuda:99"), std::string::npos);
  wanted.device = "tpu";
  EXPECT_NE(refusal(wanted).find("no device 'tpu'"), std::string::npos);
}

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
            "stopped at step 5: 5 steps in a row had gradients that are not "
            "finite at loss scale 1; the first value that is not finite is in "
            "the data, input 'x'");
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
  EXPECT_TRUE(status.message().ends_with(
      "the first value that is not finite is in 'y' (float32 [2, 1]), written "
      "by node 'linear'"))
      << status.message();
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

TEST_F(SessionTest, CheckpointsResumeBitForBit) {
  make();
  ArrayMap arrays{{"x", floats({7, 3}, {1, 2, 3, 0, 5, 1, 2, 2, 0, 9, 4,
                                        3, 1, 0, 8, 7, 6, 2, 5, 4, 1})},
                  {"skip", floats({1}, {0})}};
  std::unique_ptr<Session> whole = open();
  DataSet data = bind(*whole, arrays);
  ASSERT_TRUE(train(*whole, data, 0, 10).ok());
  std::vector<StepReport> expected = reports;

  std::unique_ptr<Session> first = open();
  ASSERT_TRUE(train(*first, data, 0, 4).ok());
  CheckpointInfo info{4, 4, first->seed(), 7, 2, true};
  ASSERT_TRUE(saveCheckpoint(*first, folder / "checkpoint", info).ok());

  SessionOptions empty;
  empty.loadWeights = false;
  std::unique_ptr<Session> second = open(empty);
  EXPECT_EQ(parameter(*second, 0), (std::vector<float>{0, 0, 0}));
  Result<CheckpointInfo> loaded =
      loadCheckpoint(*second, folder / "checkpoint");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded->step, 4);
  EXPECT_EQ(loaded->rows, 7);
  ASSERT_TRUE(train(*second, data, loaded->step, 10).ok());
  for (size_t i = 0; i < reports.size(); ++i)
    EXPECT_EQ(reports[i].loss, expected[i + 4].loss);
  EXPECT_EQ(parameter(*second, 0), parameter(*whole, 0));
  EXPECT_EQ(**second->readState("step"), 10);
}

TEST_F(SessionTest, CheckpointsReplaceEachOther) {
  make();
  std::unique_ptr<Session> session = open();
  std::filesystem::path path = folder / "checkpoint";
  ASSERT_TRUE(saveCheckpoint(*session, path, {1, 1, 1, 2, 2, true}).ok());
  ASSERT_TRUE(saveCheckpoint(*session, path, {2, 2, 1, 2, 2, true}).ok());
  std::set<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    files.insert(entry.path().filename());
  EXPECT_EQ(files, (std::set<std::string>{"arenas-000000002.safetensors",
                                          "checkpoint.json"}));
}

TEST_F(SessionTest, RefusesForeignAndDamagedCheckpoints) {
  make();
  std::unique_ptr<Session> session = open();
  std::filesystem::path path = folder / "checkpoint";
  ASSERT_TRUE(saveCheckpoint(*session, path, {1, 1, 1, 2, 2, true}).ok());
  make({.learningRate = 0.25f});
  std::unique_ptr<Session> other = open();
  std::string message = loadCheckpoint(*other, path).status().message();
  EXPECT_NE(
      message.find("the checkpoint belongs to another plan (its hash is "),
      std::string::npos)
      << message;
  std::string arenas = readText(path / "arenas-000000001.safetensors");
  folder.write("checkpoint/arenas-000000001.safetensors",
               arenas.substr(0, arenas.size() / 2));
  EXPECT_NE(loadCheckpoint(*session, path)
                .status()
                .message()
                .find("lies outside the file; is it cut short?"),
            std::string::npos);
  folder.write("checkpoint/checkpoint.json", "{\"format\": 1");
  EXPECT_EQ(loadCheckpoint(*session, path).status().message(),
            (path / "checkpoint.json").string() +
                ": not a checkpoint, or damaged");
}

TEST_F(SessionTest, SavedWeightsAreAcceptedAgain) {
  make();
  std::unique_ptr<Session> session = open();
  DataSet data = bind(*session, batch());
  ASSERT_TRUE(train(*session, data, 0, 2).ok());
  ASSERT_TRUE(
      saveWeights(session->executor(), folder / "out.safetensors").ok());
  SessionOptions given;
  given.weights = folder / "out.safetensors";
  EXPECT_EQ(parameter(*open(given), 0), parameter(*session, 0));
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
