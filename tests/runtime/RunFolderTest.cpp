// SPDX-License-Identifier: Apache-2.0
// Run folders under several processes, kills at any moment, and runs that take
// the place of others.
#include "tests/runtime/ProgramFixture.h"

#include <chrono>
#include <thread>

using namespace halftone::test;
namespace fs = std::filesystem;

namespace {
constexpr const char *kInUse =
    "halftone-run: error: another process trains in the folder 'run'; wait "
    "until it has ended, or choose another --out\n";

class RunFolderTest : public ProgramTest {
protected:
  void TearDown() override { kill(); }

  /// Starts the program and waits until the file is there and not empty.
  void start(const std::string &arguments, const std::string &file) {
    run(arguments, ">background 2>&1 & echo $! >pid");
    for (int i = 0; i < 400; ++i) {
      std::error_code error;
      if (auto size = fs::file_size(folder / file, error); !error && size > 0)
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    FAIL() << "no " << file << ": " << readText(folder / "background");
  }

  /// Ends what start began, at once and without a chance to clean up.
  void kill() {
    if (!exists("pid"))
      return;
    std::string pid = (folder / "pid").string();
    [[maybe_unused]] int status =
        std::system(("kill -9 $(cat " + pid + ") 2>/dev/null").c_str());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    fs::remove(pid);
  }

  std::string weights(const std::string &name) const {
    return readText(folder / (name + "/weights.safetensors"));
  }

  const std::string train = "train linear.plan --data data.npz ";
};

TEST_F(RunFolderTest, RunsThatStartTogetherGetFoldersOfTheirOwn) {
  std::string one = HALFTONE_BIN "/halftone-run " + train + "--steps 20 & ";
  run(train + "--steps 20", "& " + one + one + one + "wait");
  for (const char *name : {"runs/linear-001", "runs/linear-002",
                           "runs/linear-003", "runs/linear-004"})
    EXPECT_EQ(lines(std::string(name) + "/metrics.jsonl").size(), 20u) << name;
  EXPECT_FALSE(exists("runs/linear-005"));
}

TEST_F(RunFolderTest, OneProcessWritesToAFolderAndAKilledOneHoldsNothing) {
  // At the latest the first epoch, of 3 steps, ends with a checkpoint.
  start(train + "--steps 100000000 --out run",
        "run/checkpoint/checkpoint.json");
  for (const char *option :
       {"--out run", "--resume run", "--out run --overwrite"}) {
    Outcome outcome = run(train + "--steps 5 " + option);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.error, kInUse);
  }
  kill();
  Outcome eval = run("eval linear.plan --data data.npz --weights run");
  EXPECT_EQ(eval.code, 2);
  EXPECT_EQ(eval.error, "halftone-run: error: 'run' holds no weights yet: its "
                        "run has not ended; finish it with train --resume "
                        "run\n");
  std::string total =
      std::to_string(lines("run/metrics.jsonl").size() + 5) + " ";
  Outcome outcome = run(train + "--resume run --steps " + total);
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  ASSERT_EQ(run(train + "--out whole --steps " + total).code, 0);
  EXPECT_EQ(weights("run"), weights("whole"));
  EXPECT_EQ(std::to_string(lines("run/metrics.jsonl").size()) + " ", total);
}

TEST_F(RunFolderTest, AFolderIsFreeAgainAfterARunThatKeptNothing) {
  write("val.npz", {1, 0, 0, 0, 1, 0}, 0);
  start(train + "--steps 100000000 --checkpoint-every 100000000 --val val.npz "
                "--eval-every 2 --out run",
        "run/validation.jsonl");
  Outcome outcome = run(train + "--steps 3 --out run");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error, kInUse);
  kill();
  EXPECT_FALSE(exists("run/checkpoint"));
  // As if it had been in the middle of its first save.
  fs::create_directory(folder / "run/checkpoint");
  for (const char *piece :
       {"checkpoint/arenas-000000009.safetensors",
        "checkpoint/checkpoint.json.tmp-a1B2c3", "run.json.tmp-a1B2c3"})
    folder.write(std::string("run/") + piece, "cut");
  outcome = run(train + "--steps 3 --out run");
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  ASSERT_EQ(run(train + "--steps 3 --out whole").code, 0);
  EXPECT_EQ(weights("run"), weights("whole"));
  EXPECT_EQ(lines("run/metrics.jsonl").size(), 3u);
  EXPECT_FALSE(exists("run/validation.jsonl"));
  EXPECT_FALSE(exists("run/checkpoint/arenas-000000009.safetensors"));
  EXPECT_FALSE(exists("run/checkpoint/checkpoint.json.tmp-a1B2c3"));
  EXPECT_EQ(run(train + "--steps 5 --resume run").code, 0);
}

TEST_F(RunFolderTest, KillsAtAnyMomentChangeNothing) {
  ASSERT_EQ(run(train + "--steps 200 --out whole").code, 0);
  std::string again = train + "--steps 200 --checkpoint-every 1 --out run";
  for (const char *anew : {"", " --overwrite"}) {
    fs::remove_all(folder / "run");
    auto mode = [&] {
      bool resumes = exists("run/checkpoint/checkpoint.json");
      return std::string(resumes ? " --resume run" : anew);
    };
    // Some before the first step, some in the middle of a save.
    for (int milliseconds = 100; milliseconds < 500; milliseconds += 37) {
      Outcome outcome =
          run(again + mode(), ">stdout 2>stderr & pid=$!; sleep 0." +
                                  std::to_string(milliseconds) +
                                  "; kill -9 $pid; wait $pid 2>/dev/null");
      ASSERT_TRUE(outcome.code == 0 || outcome.code == 137) << outcome.error;
    }
    Outcome outcome = run(again + mode());
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_EQ(weights("run"), weights("whole"));
    EXPECT_EQ(lines("run/metrics.jsonl").size(), 200u);
    for (const auto &entry : fs::recursive_directory_iterator(folder / "run"))
      EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos)
          << entry.path();
  }
}

TEST_F(RunFolderTest, AnOverwrittenRunStaysUntilTheNewOneHasAResult) {
  ASSERT_EQ(run(train + "--steps 4 --out run").code, 0);
  folder.write("run/notes.txt", "mine");
  std::string old = weights("run");
  // Fails before its first result.
  Outcome outcome =
      run("train linear.plan --data bad.npz --steps 20 --out run --overwrite");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(weights("run"), old);
  EXPECT_EQ(lines("run/metrics.jsonl").size(), 4u);
  EXPECT_FALSE(exists("run/.new"));
  // Is killed before it.
  start(train + "--steps 100000000 --checkpoint-every 100000000 --out run "
                "--overwrite --seed 2",
        "run/.new/metrics.jsonl");
  kill();
  EXPECT_EQ(weights("run"), old);
  outcome = run(train + "--steps 6 --resume run");
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_FALSE(exists("run/.new"));
  ASSERT_EQ(run(train + "--steps 6 --out whole").code, 0);
  EXPECT_EQ(weights("run"), weights("whole"));
  // Has one.
  outcome = run(train + "--steps 3 --out run --overwrite --seed 2");
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.last()["out"], "run");
  ASSERT_EQ(run(train + "--steps 3 --out other --seed 2").code, 0);
  EXPECT_EQ(weights("run"), weights("other"));
  EXPECT_EQ(lines("run/metrics.jsonl").size(), 3u);
  EXPECT_EQ(readText(folder / "run/notes.txt"), "mine");
  EXPECT_FALSE(exists("run/.old"));
  EXPECT_EQ(run(train + "--steps 5 --resume run").code, 0);
}

TEST_F(RunFolderTest, AReplacementThatWasKilledIsUndoneOrFinished) {
  for (bool isDecided : {false, true}) {
    std::string name = isDecided ? "decided" : "undecided";
    ASSERT_EQ(run(train + "--steps 4 --out " + name).code, 0);
    ASSERT_EQ(run(train + "--steps 3 --seed 2 --out new" + name).code, 0);
    std::string old = weights(name), fresh = weights("new" + name);
    fs::path run = folder / name, grown = folder / ("new" + name);
    fs::create_directory(run / ".old");
    fs::remove(grown / ".lock");
    fs::rename(run / "checkpoint", run / ".old/checkpoint");
    if (isDecided) {
      for (const char *file :
           {"weights.safetensors", "metrics.jsonl", "run.json"})
        fs::rename(run / file, run / ".old" / file);
      fs::rename(grown / "checkpoint", run / "checkpoint");
    }
    fs::rename(grown, run / (isDecided ? ".ready" : ".new"));
    Outcome outcome = this->run(train + "--steps 3 --resume " + name);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_EQ(weights(name), isDecided ? fresh : old);
    EXPECT_EQ(lines(name + "/metrics.jsonl").size(), isDecided ? 3u : 4u);
    for (const char *left : {"/.old", "/.new", "/.ready"})
      EXPECT_FALSE(exists(name + left)) << name << left;
  }
}

TEST_F(RunFolderTest, AResumedRunValidatesAsBefore) {
  write("val.npz", {1, 0, 0, 0, 1, 0}, 0);
  ASSERT_EQ(
      run(train + "--val val.npz --eval-every 2 --steps 4 --out run").code, 0);
  Outcome outcome = run(train + "--steps 8 --resume run");
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  std::vector<json> validation = lines("run/validation.jsonl");
  ASSERT_EQ(validation.size(), 4u);
  EXPECT_EQ(validation[3]["step"], 8);
  EXPECT_EQ(outcome.last()["validation"], validation[3]);
  std::string before = weights("run");
  outcome = run(train + "--steps 8 --resume run");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.error.ends_with(
      "note: nothing is left to do: 8 of 8 steps are done; give more with "
      "--steps or --epochs\n"))
      << outcome.error;
  EXPECT_EQ(outcome.last()["steps"], 8);
  EXPECT_EQ(weights("run"), before);
  EXPECT_EQ(lines("run/metrics.jsonl").size(), 8u);
  fs::remove(folder / "val.npz");
  outcome = run(train + "--steps 9 --resume run");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.error.find("the run to resume validates (--val names other "
                               "data): cannot open '"),
            std::string::npos)
      << outcome.error;
}
} // namespace
