// SPDX-License-Identifier: Apache-2.0
// Files that were exported in evaluation mode, as far as one can see.
#include "tests/frontends/onnx/TextModel.h"

using testing::AllOf, testing::HasSubstr, testing::Not;

namespace halftone::onnx_frontend {
namespace {

class EvaluationFormTest : public ImportTest {
protected:
  std::string warnings(const onnx::ModelProto &model,
                       const ImportOptions &options = {}) {
    ImportResult result = import(model, options);
    EXPECT_TRUE(result) << messages(result);
    return messages(result, Severity::Warning);
  }

  /// Two BatchNormalization nodes, "first" and "second".
  static onnx::ModelProto norms(int first, int second) {
    auto attribute = [](int training) {
      return training ? "<training_mode = 1>" : "";
    };
    auto results = [](const std::string &name, int training) {
      return training ? name + ", " + name + "_m, " + name + "_v" : name;
    };
    auto model = textModel(
        "g (float[2,3,4,4] x) => (float[2,3,4,4] y) { "
        "[first] " +
        results("a", first) + " = BatchNormalization" + attribute(first) +
        "(x, gamma, beta, mean, var) [second] " + results("b", second) +
        " = BatchNormalization" + attribute(second) +
        "(a, gamma, beta, mean, var) [last] y = Relu(b) }");
    for (std::string name : {"gamma", "beta", "mean", "var"})
      addInitializer(model, name, {3});
    return model;
  }

  /// Dropout nodes of ratio 0.5; each text follows "Dropout(x, half".
  static onnx::ModelProto dropouts(std::vector<std::string> nodes,
                                   const std::string &ratio = "0.5") {
    std::string text = "g (float[4,3] x) => (float[4,3] y) { half = "
                       "Constant<value_float = " +
                       ratio +
                       ">() one = Constant<value_int = 1>() on = Cast<to = "
                       "9>(one) off = Not(on) v0 = Add(x, weight)";
    for (size_t i = 0; i < nodes.size(); ++i)
      text += " [drop" + std::to_string(i) + "] v" + std::to_string(i + 1) +
              " = Dropout(v" + std::to_string(i) + ", half" + nodes[i] + ")";
    auto model =
        textModel(text + " y = Relu(v" + std::to_string(nodes.size()) + ") }");
    addInitializer(model, "weight", {4, 3});
    return model;
  }
};

TEST_F(EvaluationFormTest, dropoutThatIsOff) {
  EXPECT_EQ(warnings(dropouts({", on", ", on"})), "");
  EXPECT_THAT(
      warnings(dropouts({", off", ", on", ""})),
      AllOf(HasSubstr("2 Dropout nodes are switched off in the file"),
            HasSubstr("nothing is dropped in training either: drop0, drop2."),
            HasSubstr("training=torch.onnx.TrainingMode.PRESERVE")));
  EXPECT_THAT(warnings(dropouts({", off"})),
              HasSubstr("1 Dropout node is switched off"));
}

TEST_F(EvaluationFormTest, dropoutThatWouldDropNothing) {
  EXPECT_EQ(warnings(dropouts({", off"}, "0.0")), "");
  ImportOptions options;
  options.dropout = false;
  EXPECT_EQ(warnings(dropouts({", off"}), options), "");
}

TEST_F(EvaluationFormTest, batchNormWithStoredStatistics) {
  EXPECT_EQ(warnings(norms(1, 1)), "");
  EXPECT_THAT(warnings(norms(0, 0)),
              AllOf(HasSubstr("2 BatchNormalization nodes are in evaluation "
                              "form"),
                    HasSubstr("trained with the statistics of the batch all "
                              "the same, unless --batch-norm frozen"),
                    HasSubstr("first, second. Export with")));
  EXPECT_THAT(warnings(norms(0, 1)),
              AllOf(HasSubstr("1 BatchNormalization node is"),
                    Not(HasSubstr("second"))));
  ImportOptions options;
  options.trainBatchNorm = false;
  EXPECT_EQ(warnings(norms(0, 0), options), "");
}

// The dynamo exporter has one form for both modes.
TEST_F(EvaluationFormTest, batchNormFromTheDynamoExporter) {
  auto model = norms(0, 0);
  auto *entry = model.mutable_graph()->mutable_node(0)->add_metadata_props();
  entry->set_key("pkg.torch.onnx.name_scopes");
  entry->set_value("['', 'bn']");
  EXPECT_EQ(warnings(model), "");
}

} // namespace
} // namespace halftone::onnx_frontend
