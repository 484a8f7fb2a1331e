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
