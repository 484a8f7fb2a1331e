// SPDX-License-Identifier: Apache-2.0
// Run folders that hold other people's files, no checkpoint, damaged files or
// no room, and what a run says then.
#include "tests/runtime/ProgramFixture.h"

#include <cmath>
#include <cstdlib>

using namespace halftone::test;
namespace fs = std::filesystem;

namespace {
class RunFaultsTest : public ProgramTest {
protected:
  std::string weights(const std::string &name) const {
    return readText(folder / (name + "/weights.safetensors"));
  }

  const std::string train = "train linear.plan --data data.npz ";
};

TEST_F(RunFaultsTest, OverwriteLeavesWhatIsNotARunsAlone) {
  fs::create_directories(folder / "mine/checkpoint");
  folder.write("mine/checkpoint/mine.txt", "mine");
  folder.write("mine/weights.safetensors", "mine");
  for (const char *lock : {"", "mine/.lock"}) {
    if (*lock)
      folder.write(lock, "");
    Outcome outcome = run(train + "--steps 2 --out mine --overwrite");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.error,
              "halftone-run: error: the folder 'mine' is not empty and holds "
              "no run; empty it, or choose another --out\n");
  }
  EXPECT_EQ(readText(folder / "mine/checkpoint/mine.txt"), "mine");
  EXPECT_EQ(weights("mine"), "mine");
  // Beside a run's files.
  ASSERT_EQ(run(train + "--steps 3 --out run").code, 0);
  folder.write("run/checkpoint/mine.txt", "mine");
  Outcome outcome = run(train + "--steps 6 --out run --overwrite --seed 2");
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(readText(folder / "run/checkpoint/mine.txt"), "mine");
  EXPECT_FALSE(exists("run/checkpoint/arenas-000000003.safetensors"));
  EXPECT_FALSE(exists("run/.old"));
  // In the place where a run would grow.
  fs::create_directory(folder / "run/.new");
  folder.write("run/.new/mine.txt", "mine");
  std::string before = weights("run");
  outcome = run(train + "--steps 6 --out run --overwrite");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.error.find("'run/.new' holds files that are not a run's"),
            std::string::npos)
      << outcome.error;
  EXPECT_EQ(readText(folder / "run/.new/mine.txt"), "mine");
  EXPECT_EQ(weights("run"), before);
}

TEST_F(RunFaultsTest, ARunWithoutACheckpointIsNotOneToResume) {
  EXPECT_EQ(run("train linear.plan --data bad.npz --steps 20 --out run").code,
            1);
  Outcome outcome = run(train + "--steps 2 --resume run");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error,
            "halftone-run: error: 'run' holds no checkpoint to resume from; "
            "start anew with --out run, or with another --out, without "
            "--resume\n");
  // It kept nothing, so that the folder counts as empty.
  outcome = run(train + "--steps 2 --out run");
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(lines("run/metrics.jsonl").size(), 2u);
}

TEST_F(RunFaultsTest, OnlyARunThatKeptNothingCountsAsNothing) {
  std::string bad = "train linear.plan --data bad.npz --steps 20 --out ";
  for (const char *kept :
       {"notes.txt", "weights.safetensors", "checkpoint/mine.txt"}) {
    std::string name = std::string("with") + kept[0];
    ASSERT_EQ(run(bad + name).code, 1);
    fs::create_directory(folder / (name + "/checkpoint"));
    folder.write(name + "/" + kept, "mine");
    Outcome outcome = run(train + "--steps 2 --out " + name);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.error, "halftone-run: error: the folder '" + name +
                                 "' is not empty; use --overwrite to start "
                                 "anew, or another --out\n");
    outcome = run(train + "--steps 2 --resume " + name);
    EXPECT_NE(outcome.error.find("start anew with --out " + name +
                                 " --overwrite, or with another --out, "),
              std::string::npos)
        << outcome.error;
    EXPECT_EQ(readText(folder / (name + "/" + kept)), "mine");
    EXPECT_EQ(lines(name + "/metrics.jsonl").size(), 5u);
    EXPECT_EQ(run(train + "--steps 2 --out " + name + " --overwrite").code, 0);
  }
  // Logs of other programs, without a lock and with one.
  fs::create_directory(folder / "other");
  folder.write("other/metrics.jsonl", "theirs");
  EXPECT_EQ(run(train + "--steps 2 --out other").code, 2);
  folder.write("other/.lock", "");
  EXPECT_EQ(run(train + "--steps 2 --out other").code, 2);
  folder.write("other/run.json", "{}");
  EXPECT_EQ(run(train + "--steps 2 --out other").code, 2);
  EXPECT_EQ(readText(folder / "other/metrics.jsonl"), "theirs");
}

TEST_F(RunFaultsTest, RefusedInputLeavesTheRemainsOfARunAlone) {
  ASSERT_EQ(run("train linear.plan --data bad.npz --steps 20 --out run").code,
            1);
  std::string log = readText(folder / "run/metrics.jsonl");
  EXPECT_EQ(run("train linear.plan --data absent.npz --out run").code, 2);
  EXPECT_EQ(readText(folder / "run/metrics.jsonl"), log);
  // With --overwrite they stay like any other run's until there is a result.
  EXPECT_EQ(run("train linear.plan --data bad.npz --steps 1 --out run "
                "--overwrite")
                .code,
            1);
  EXPECT_EQ(readText(folder / "run/metrics.jsonl"), log);
  EXPECT_FALSE(exists("run/.new"));
}

TEST_F(RunFaultsTest, DamagedFilesOfARunAreRefusedInput) {
  ASSERT_EQ(run(train + "--steps 2 --out run").code, 0);
  std::string log = readText(folder / "run/metrics.jsonl");
  fs::remove(folder / "run/metrics.jsonl");
  fs::create_symlink("/dev/full", folder / "run/metrics.jsonl");
  Outcome outcome = run(train + "--steps 4 --resume run");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(outcome.error.ends_with("halftone-run: error: cannot read "
                                      "'run/metrics.jsonl': not a regular "
                                      "file\n"))
      << outcome.error;
  fs::remove(folder / "run/metrics.jsonl");
  folder.write("run/metrics.jsonl", log + "{\"step\": 2, \"lo");
  std::string record = readText(folder / "run/run.json");
  folder.write("run/run.json", "{");
  EXPECT_EQ(run(train + "--steps 4 --resume run").code, 2);
  folder.write("run/run.json", record);
  std::string arenas = "run/checkpoint/arenas-000000002.safetensors";
  std::string whole = readText(folder / arenas);
  folder.write(arenas, "cut");
  EXPECT_EQ(run(train + "--steps 4 --resume run").code, 2);
  folder.write(arenas, whole);
  EXPECT_EQ(run(train + "--steps 4 --resume run").code, 0);
  EXPECT_EQ(lines("run/metrics.jsonl").size(), 4u);
}

TEST_F(RunFaultsTest, AFileThatMayNotGrowFailsTheRun) {
  Outcome outcome = run(
      "--version", ">/dev/null; ulimit -f 1; " HALFTONE_BIN "/halftone-run " +
                       train + "--steps 100 --out run >/dev/null 2>stderr");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.error.find("halftone-run: error: cannot write "),
            std::string::npos)
      << outcome.error;
  EXPECT_TRUE(outcome.error.ends_with(": File too large\n")) << outcome.error;
}

TEST_F(RunFaultsTest, AnotherNumberOfThreadsIsTold) {
  setenv("OMP_NUM_THREADS", "1", 1);
  EXPECT_EQ(run(train + "--steps 2 --out run").code, 0);
  EXPECT_EQ(run(train + "--steps 3 --resume run").error.find("threads="),
            std::string::npos);
  setenv("OMP_NUM_THREADS", "2", 1);
  Outcome outcome = run(train + "--steps 4 --resume run");
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.error.find(
                "note: the checkpoint was written with threads=1, here it is "
                "2: "),
            std::string::npos)
      << outcome.error;
}

TEST_F(RunFaultsTest, ALossThatIsNotANumberHasNoSign) {
  write("nan.npz", {-NAN, -NAN, -NAN, -NAN, -NAN, -NAN}, 0);
  Outcome outcome = run("train linear.plan --data nan.npz --steps 1 --out run");
  EXPECT_NE(outcome.out.find("loss nan"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("-nan"), std::string::npos) << outcome.out;
}
} // namespace
