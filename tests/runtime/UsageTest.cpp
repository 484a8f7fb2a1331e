// SPDX-License-Identifier: Apache-2.0
// Wrong command lines of halftone-run, and output that cannot be written: one
// message, the right exit code.
#include "tests/runtime/ProgramFixture.h"

#include <sys/stat.h>

using namespace halftone::test;

namespace {
class UsageTest : public ProgramTest {
protected:
  void expectRefusal(const std::string &arguments, const std::string &message) {
    Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_EQ(outcome.error, "halftone-run: error: " + message + "\n")
        << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_FALSE(exists("runs")) << arguments;
  }
};

TEST_F(UsageTest, NumbersOutOfRangeAreRefusedInWords) {
  std::string hint = "; see 'halftone-run train --help'";
  std::string train = "train linear.plan --data data.npz ";
  for (const char *flag :
       {"--steps", "--epochs", "--eval-every", "--checkpoint-every"})
    for (const char *value :
         {"0", "-5", "1e3", "5x", "99999999999999999999", "1000000000001"})
      expectRefusal(train + flag + " " + value,
                    std::string(flag) +
                        ": expected a whole number from 1 to 1000000000000, "
                        "not '" +
                        value + "'" + hint);
  for (const char *value : {"-1", "18446744073709551616", "one"})
    expectRefusal(train + "--seed " + value,
                  "--seed: expected a whole number from 0 to "
                  "18446744073709551615, not '" +
                      std::string(value) + "'" + hint);
  expectRefusal("bench linear.plan --warmup -1",
                "--warmup: expected a whole number from 0 to 1000000, not "
                "'-1'; see 'halftone-run bench --help'");
  // 3 batches an epoch.
  expectRefusal(train + "--epochs 400000000000",
                "--epochs 400000000000 make more than 1000000000000 steps");
  EXPECT_EQ(run(train + "--seed 18446744073709551615 --steps 1").code, 0);
}

TEST_F(UsageTest, WhatTheParserRefusesReadsLikeEverythingElse) {
  expectRefusal("train linear.plan --data data.npz --stepz 3",
                "there is no option '--stepz'; see 'halftone-run train "
                "--help'");
  expectRefusal("nonsense",
                "there is no command 'nonsense'; see 'halftone-run --help'");
  expectRefusal("devices extra", "'extra' is one argument too many; see "
                                 "'halftone-run devices --help'");
  expectRefusal("train linear.plan",
                "--data is required; see 'halftone-run train --help'");
  expectRefusal("train linear.plan --data data.npz --resume ''",
                "--resume: expected DIR, not ''; see 'halftone-run train "
                "--help'");
}

/// Notices about input that is refused in the end say nothing to anyone.
TEST_F(UsageTest, ARefusalStandsAlone) {
  expectRefusal("train linear.plan --data data.npz --weights absent",
                "'absent': weights are a .safetensors file or a folder that "
                "train wrote");
}

TEST_F(UsageTest, AResultThatCannotBeWrittenIsAFailure) {
  for (const char *arguments :
       {"devices", "devices --json", "--version", "--help",
        "eval linear.plan --data data.npz",
        "predict linear.plan --data data.npz --out p.npz",
        "grads linear.plan --data batch.npz --out g.npz",
        "bench linear.plan --warmup 0 --steps 2 --by-node"}) {
    Outcome outcome = run(arguments, ">/dev/full 2>stderr");
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_TRUE(outcome.error.ends_with(
        "halftone-run: error: cannot write to the standard output: No space "
        "left on device\n"))
        << arguments << ": " << outcome.error;
  }
  // Neither the one nor the other.
  EXPECT_EQ(run("devices", ">/dev/full 2>/dev/full").code, 1);
  EXPECT_EQ(run("eval absent --data x", ">/dev/full 2>/dev/full").code, 2);
  EXPECT_EQ(run("devices", ">&- 2>stderr").code, 1);
  // Notices that nobody can read are no reason to fail.
  EXPECT_EQ(run("eval linear.plan --data data.npz", ">stdout 2>/dev/full").code,
            0);
}

TEST_F(UsageTest, TrainingWithoutAReaderSavesAndStops) {
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::string reader = "head -n 2 " + (folder / "pipe").string();
  ASSERT_EQ(std::system((reader + " >/dev/null &").c_str()), 0);
  Outcome outcome = run("train linear.plan --data data.npz --steps 100000000 "
                        "--out run",
                        ">pipe 2>stderr");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.error.find("cannot write to the standard output: Broken "
                               "pipe; step "),
            std::string::npos)
      << outcome.error;
  int64_t step = static_cast<int64_t>(lines("run/metrics.jsonl").size());
  outcome = run("train linear.plan --data data.npz --resume run --steps " +
                std::to_string(step + 1));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.last()["steps"], step + 1);
}

// GNU's OpenMP says what it was told when it was loaded.
TEST_F(UsageTest, ThreadsSpinBrieflyUnlessTheEnvironmentSaysHow) {
  const char *kSpin = "GOMP_SPINCOUNT", *kPolicy = "OMP_WAIT_POLICY";
  unsetenv(kSpin);
  unsetenv(kPolicy);
  setenv("OMP_DISPLAY_ENV", "verbose", 1);
  auto isShortened = [&] {
    std::string error = run("--version").error;
    EXPECT_NE(error.find(kSpin), std::string::npos) << error;
    return error.find("GOMP_SPINCOUNT = '3000'") != std::string::npos;
  };
  EXPECT_TRUE(isShortened());
  setenv(kSpin, "7", 1);
  EXPECT_FALSE(isShortened());
  unsetenv(kSpin);
  setenv(kPolicy, "active", 1);
  EXPECT_FALSE(isShortened());
  unsetenv(kPolicy);
  unsetenv("OMP_DISPLAY_ENV");
}
} // namespace
