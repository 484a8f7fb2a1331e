// SPDX-License-Identifier: Apache-2.0
// Where parameters come from: draws, the plan's own file, given files; and what
// is refused.
#include "runtime/session/Weights.h"
#include "tests/runtime/session/SessionFixture.h"

using namespace halftone::runtime;
using namespace halftone::test;

namespace {
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
} // namespace
