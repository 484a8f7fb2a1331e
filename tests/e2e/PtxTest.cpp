// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels of every sample plan, assembled by ptxas where it is there:
// no GPU needed to know that a driver will take them.
#include "runtime/plan/PlanReader.h"
#include "tests/e2e/CompiledModel.h"
#include <cstdlib>
#include <fstream>

using namespace halftone::runtime;

namespace halftone::tests {
namespace {

class Ptx : public testing::TestWithParam<std::string> {};

TEST_P(Ptx, AssemblesTheKernelsOfAPlan) {
  if (std::string(HALFTONE_PTXAS).empty())
    GTEST_SKIP() << "ptxas is not installed";
  for (const char *precision : {"fp32", "tf32", "bf16", "fp16"}) {
    TemporaryFolder folder;
    auto flags =
        referenceFlags(GetParam(), "raw20", precision, "adamw", folder.path);
    flags.target = "cuda:sm_90";
    ASSERT_EQ(tools::runCompile(flags), 0) << precision;
    auto plan = readPlan(flags.out);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_GT((*plan)->kernels.size(), 0u);
    for (const Module &module : (*plan)->modules) {
      std::filesystem::path ptx = folder.path / "kernels.ptx";
      std::ofstream(ptx) << module.code;
      std::string command = std::string(HALFTONE_PTXAS) + " -arch=sm_90 -o " +
                            (folder.path / "kernels.cubin").string() + " " +
                            ptx.string();
      EXPECT_EQ(std::system(command.c_str()), 0) << precision;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Ptx,
                         testing::Values("mlp", "cnn", "resnet", "gpt2", "bert",
                                         "bert_masked", "self_loss",
                                         "digits_cnn", "dropout"));

} // namespace
} // namespace halftone::tests
