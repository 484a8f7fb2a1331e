// SPDX-License-Identifier: Apache-2.0
// A network that learns: handwritten digits in three precisions and from three
// seeds, held to the same accuracy.
#include "runtime/session/Evaluator.h"
#include "tests/e2e/CompiledModel.h"

using namespace halftone::runtime;

namespace halftone::tests {
namespace {

constexpr int64_t kBatch = 32, kEpochs = 6;

ArrayMap digits(const char *part) {
  auto arrays = readArrays(std::filesystem::path(HALFTONE_TESTDATA) / "digits" /
                           (std::string(part) + ".npz"));
  EXPECT_TRUE(arrays.ok()) << arrays.status().message();
  return arrays.ok() ? *arrays : ArrayMap();
}

double trainedAccuracy(const std::string &precision, uint64_t seed) {
  TemporaryFolder folder;
  auto flags =
      referenceFlags("digits_cnn", "raw20", precision, "adamw", folder.path);
  flags.batch = kBatch;
  CompiledModel model(flags);
  if (!model)
    return 0;
  auto none = [](const std::string &) {};
  EXPECT_TRUE(model.session->setSeed(seed).ok());
  DataSet train = model.bind(digits("train"));
  BatchOrder order(train.rows(), train.batch(), seed, /*shuffle=*/true);
  int64_t steps = kEpochs * order.batchesPerEpoch();
  auto trainer = Trainer::create(*model.session, train, order);
  EXPECT_TRUE(trainer.ok());
  auto sink = [](const StepReport &) { return Status(); };
  for (int64_t i = 0; i < steps; ++i)
    EXPECT_TRUE((*trainer)->step(sink).ok());
  EXPECT_TRUE((*trainer)->finish(sink).ok());
  DataSet test = model.bind(digits("test"), ProgramKind::Eval);
  auto result = evaluate(*model.session, test, none);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? result->accuracy.value_or(0) : 0;
}

TEST(Digits, PrecisionsReachTheSameAccuracy) {
  std::map<std::string, double> mean;
  for (const char *precision : {"fp32", "bf16", "fp16"})
    for (uint64_t seed : {1, 2, 3})
      mean[precision] += trainedAccuracy(precision, seed) / 3;
  for (const auto &[precision, accuracy] : mean) {
    EXPECT_GE(accuracy, 0.97) << precision;
    EXPECT_NEAR(accuracy, mean["fp32"], 0.01) << precision;
    RecordProperty(precision, std::to_string(accuracy));
  }
}

} // namespace
} // namespace halftone::tests
