// SPDX-License-Identifier: Apache-2.0
// Checkpoints: resuming gives the same bits, and what does not fit is refused.
#include "runtime/session/Checkpoint.h"
#include "tests/runtime/session/SessionFixture.h"

#include <set>

using namespace halftone::runtime;
using namespace halftone::test;

namespace {
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
  std::set<std::string> foreign{"arenas-mine.safetensors", "arenas-1.txt",
                                "checkpoint.json.bak", "mine.txt"};
  for (const std::string &name : foreign)
    folder.write("checkpoint/" + name, "mine");
  for (const char *name : {"arenas-000000002.safetensors.tmp-a1B2c3",
                           "checkpoint.json.tmp-a1B2c3"})
    folder.write(std::string("checkpoint/") + name, "cut");
  ASSERT_TRUE(saveCheckpoint(*session, path, {2, 2, 1, 2, 2, true}).ok());
  std::set<std::string> files, expected = foreign;
  expected.insert({"arenas-000000002.safetensors", "checkpoint.json"});
  for (const auto &entry : std::filesystem::directory_iterator(path))
    files.insert(entry.path().filename());
  EXPECT_EQ(files, expected);
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
  folder.write("checkpoint/checkpoint.json", "{\"format\": 1}");
  EXPECT_EQ(loadCheckpoint(*session, path).status().message(),
            (path / "checkpoint.json").string() +
                ": the checkpoint has format 1, this program reads 2; start "
                "anew from the run's weights with --weights");
}

/// Every kind of damage fails with one message and leaves the session's
/// parameters alone.
TEST_F(SessionTest, DamagedCheckpointsDoNotResume) {
  make();
  std::unique_ptr<Session> session = open();
  std::filesystem::path path = folder / "checkpoint";
  ASSERT_TRUE(saveCheckpoint(*session, path, {1, 1, 1, 2, 2, true}).ok());
  std::unique_ptr<Session> other = open();
  std::vector<float> before = parameter(*other, 0);
  std::string arenasName = "checkpoint/arenas-000000001.safetensors";
  std::string arenas = readText(folder / arenasName);
  std::string json = readText(path / "checkpoint.json");
  auto expectDamaged = [&](const std::string &file, const std::string &content,
                           const std::string &what) {
    std::string whole = readText(folder / file);
    folder.write(file, content);
    Status status = loadCheckpoint(*other, path).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidInput) << what;
    size_t named = status.message().find(path.string());
    EXPECT_EQ(status.message().find(path.string(), named + 1),
              std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find("the checkpoint is damaged: "),
              std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find(what), std::string::npos)
        << status.message();
    EXPECT_EQ(parameter(*other, 0), before);
    folder.write(file, whole);
  };
  std::string changed = arenas;
  changed.back() ^= 1;
  expectDamaged(arenasName, changed, "does not have the hash in checkpoint.js");
  expectDamaged(arenasName, arenas.substr(0, arenas.size() / 2),
                "is it cut short?");
  expectDamaged(arenasName, "", "too short");
  expectDamaged("checkpoint/checkpoint.json", json.substr(0, json.size() / 2),
                "it is no JSON object");
  changed = json;
  changed[changed.find("\"seed\": 1") + 8] = '3';
  expectDamaged("checkpoint/checkpoint.json", changed,
                "its content does not have the hash in it");
  std::filesystem::remove(folder / arenasName);
  EXPECT_EQ(loadCheckpoint(*other, path).status().code(),
            StatusCode::InvalidInput);
  folder.write(arenasName, arenas);
  EXPECT_TRUE(loadCheckpoint(*other, path).ok());
}
} // namespace
