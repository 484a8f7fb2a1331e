// SPDX-License-Identifier: Apache-2.0
// What a trace leaves in its folder where it fails, and which folders it
// refuses.
#include "tests/runtime/ProgramFixture.h"

using namespace halftone::test;
namespace fs = std::filesystem;

namespace {
class TraceFolderTest : public ProgramTest {
protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_TRUE(writePlan(makeLinearPlan({.batch = 1, .features = 3000}),
                          folder / "wide.plan")
                    .ok());
    ArrayMap arrays{{"x", floats({1, 3000}, std::vector<float>(3000, 1))},
                    {"skip", floats({1}, {0})}};
    ASSERT_TRUE(writeNpz(folder / "wide.npz", arrays).ok());
  }

  /// Traces with files of 30 KiB at most: the step "update" has 36 KB of
  /// operands, those before it have less.
  Outcome runLimited(const std::string &out) const {
    return run("--version", ">/dev/null; ulimit -f 60; " HALFTONE_BIN
                            "/halftone-run " +
                                trace + out + " >stdout 2>stderr");
  }

  const std::string trace = "trace wide.plan --data wide.npz --out ";
};

TEST_F(TraceFolderTest, AFailedTraceLeavesNothing) {
  fs::create_directory(folder / "mine");
  for (const char *out : {"trace", "deep/er/trace/", "mine", "mine/trace"}) {
    Outcome outcome = runLimited(out);
    EXPECT_EQ(outcome.code, 1) << out;
    EXPECT_NE(outcome.error.find("/00005.safetensors': File too large"),
              std::string::npos)
        << outcome.error;
    EXPECT_FALSE(exists("trace"));
    EXPECT_FALSE(exists("deep"));
    EXPECT_TRUE(fs::is_empty(folder / "mine")) << out;
  }
  for (const char *out : {"trace", "mine"}) {
    Outcome outcome = run(trace + out);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_TRUE(exists(std::string(out) + "/00009.safetensors"));
  }
}

TEST_F(TraceFolderTest, ARefusalSaysWhatToDoAndChangesNothing) {
  fs::create_directory(folder / "mine");
  // As a killed trace leaves it.
  folder.write("mine/00000.safetensors", "mine");
  Outcome outcome = run(trace + "mine");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error,
            "halftone-run: error: 'mine' is not an empty folder; empty it, or "
            "choose another --out\n");
  EXPECT_EQ(readText(folder / "mine/00000.safetensors"), "mine");
  outcome = run(trace + "wide.npz");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error, "halftone-run: error: --out 'wide.npz' is a file, "
                           "not a folder\n");
  EXPECT_EQ(run("trace wide.plan --data absent.npz --out new").code, 2);
  EXPECT_FALSE(exists("new"));
}
} // namespace
