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

TEST(Products, AddTheBiasesOfLinearLayers) {
  TemporaryFolder folder;
  CompiledModel model(
      referenceFlags("mlp", "raw20", "fp32", "sgd", folder.path));
  ASSERT_TRUE(model);
  int withBias = 0;
  for (const Step &step : model.session->plan().train.steps)
    if (auto *product = std::get_if<MatMul>(&step.kind))
      withBias += product->bias;
  EXPECT_EQ(withBias, 3);
}

class StepData : public testing::TestWithParam<const char *> {};

TEST_P(StepData, IndicesOutsideTheTableAreRefused) {
  TemporaryFolder folder;
  Reference reference("bert_masked");
  auto flags =
      referenceFlags("bert_masked", "raw20", "fp32", "adamw", folder.path);
  flags.freeze = {GetParam()};
  CompiledModel model(flags);
  ASSERT_TRUE(model);
  const Plan &plan = model.session->plan();
  ArrayMap data = reference.data(plan);
  auto ignore = [](const std::string &) {};
  EXPECT_TRUE(
      DataSet::bind(data, "good", plan, ProgramKind::Train, true, ignore).ok());
  HostArray &ids = data.at("input_ids");
  std::vector<std::byte> bytes(ids.bytes.begin(), ids.bytes.end());
  bytes[1] = std::byte(0x10); // id + 4096: the table has 96 rows
  ids = makeArray(ids.type, ids.shape, std::move(bytes));
  auto bound =
      DataSet::bind(data, "bad", plan, ProgramKind::Train, true, ignore);
  ASSERT_FALSE(bound.ok());
  EXPECT_NE(bound.status().message().find("'input_ids' has the value"),
            std::string::npos)
      << bound.status().message();
}

// Nothing frozen, and all the tables.
INSTANTIATE_TEST_SUITE_P(Frozen, StepData, testing::Values("^$", "embedding"));

TEST(StepData, BatchesWithoutACountedLabelHaveNoGradients) {
  TemporaryFolder folder;
  Reference reference("bert_masked");
  CompiledModel model(
      referenceFlags("bert_masked", "raw20", "bf16", "adamw", folder.path));
  ASSERT_TRUE(model);
  ArrayMap data = reference.data(model.session->plan());
  HostArray &target = data.at("target");
  std::vector<int64_t> ignored(target.bytes.size() / sizeof(int64_t), -100);
  auto bytes = std::as_bytes(std::span(ignored));
  target = makeArray(target.type, target.shape, {bytes.begin(), bytes.end()});
  auto result = computeGradients(*model.session, model.bind(data),
                                 [](const std::string &) {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::NonFinite);
  EXPECT_NE(result.status().message().find("no label of the batch counts"),
            std::string::npos)
      << result.status().message();
}

INSTANTIATE_TEST_SUITE_P(All, Steps,
                         testing::Values("mlp", "cnn", "resnet", "gpt2",
                                         "bert"));

} // namespace
} // namespace halftone::tests
