// SPDX-License-Identifier: Apache-2.0
// What a training step promises: it repeats to the bit, and a skipped one
// changes nothing.
#include "tests/e2e/CompiledModel.h"

using namespace halftone::runtime;

namespace halftone::tests {
namespace {

class Steps : public testing::TestWithParam<std::string> {
protected:
  TemporaryFolder folder;
  Reference reference{GetParam()};
};

TEST_P(Steps, RepeatToTheBit) {
  for (const char *precision : {"fp32", "bf16", "fp16"}) {
    auto flags =
        referenceFlags(GetParam(), "raw20", precision, "adamw", folder.path);
    CompiledModel first(flags), second(flags);
    ASSERT_TRUE(first && second);
    first.train(first.bind(reference.data(first.session->plan())), 4);
    second.train(second.bind(reference.data(second.session->plan())), 4);
    EXPECT_EQ(first.persistent(), second.persistent()) << precision;
  }
}

TEST_P(Steps, OverflowSkipsTheWholeStep) {
  for (const char *optimizer : {"sgd", "adamw"}) {
    auto flags =
        referenceFlags(GetParam(), "raw20", "fp16", optimizer, folder.path);
    flags.scaleInit =
        1e30; // overflows FP16 in the first product behind the loss
    flags.scaleMax = 1e38;
    CompiledModel model(flags);
    ASSERT_TRUE(model);
    // What reports the skip, or reacts to it, is meant to change.
    const std::vector<std::string> reports = {"found_inf", "grad_norm",
                                              "loss_scale", "growth_tracker"};
    auto before = model.persistent(reports);
    auto steps =
        model.train(model.bind(reference.data(model.session->plan())), 1);
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_FALSE(steps[0].applied);
    EXPECT_EQ(model.persistent(reports), before) << optimizer;
    EXPECT_NEAR(model.session->readState("loss_scale")->value_or(0), 0.5e30,
                1e24);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Steps,
                         testing::Values("mlp", "cnn", "resnet", "gpt2",
                                         "bert"));

} // namespace
} // namespace halftone::tests
