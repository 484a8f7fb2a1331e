// SPDX-License-Identifier: Apache-2.0
// Every exported sample imports; those with all their parameters have
// PyTorch's, and no shape computation is left.
#include "frontends/onnx/Outputs.h"
#include "runtime/data/Npy.h"
#include "tests/frontends/onnx/TextModel.h"

namespace halftone::onnx_frontend {
namespace {

struct Sample {
  std::string file;
  /// Parameters that train.
  size_t parameters;
  size_t statistics = 0;
  /// In the warning of lost parameters; 0 for none.
  std::string lost = "";
  std::vector<std::pair<std::string, int64_t>> dims = {};

  std::string model() const { return file.substr(0, file.find('.')); }
  bool isComplete() const { return lost.empty(); }
};

void PrintTo(const Sample &sample, std::ostream *out) { *out << sample.file; }

class SampleFilesTest : public ImportTest,
                        public testing::WithParamInterface<Sample> {
protected:
  ImportResult importSample() {
    ImportOptions options;
    options.dims = GetParam().dims;
    return importFile(GetParam().file + ".onnx", options);
  }
};

TEST_P(SampleFilesTest, importsWithItsParameters) {
  ImportResult result = importSample();
  ASSERT_TRUE(result) << messages(result);
  EXPECT_EQ(names(result, WeightRole::Trainable).size(), GetParam().parameters);
  EXPECT_EQ(names(result, WeightRole::Statistic).size(), GetParam().statistics);
  std::string warnings = messages(result, Severity::Warning);
  if (GetParam().isComplete()) {
    EXPECT_EQ(warnings, "");
  } else {
    EXPECT_THAT(warnings, testing::StartsWith(GetParam().lost));
    EXPECT_THAT(warnings, testing::HasSubstr("optimize=False"));
  }
}

class SampleParametersTest : public SampleFilesTest {};

TEST_P(SampleParametersTest, areThoseOfPyTorch) {
  auto reference = runtime::readNpz(HALFTONE_TESTDATA "/models/" +
                                    GetParam().model() + ".npz");
  ASSERT_TRUE(reference.ok());
  std::vector<std::string> expected;
  for (const auto &[name, array] : *reference)
    if (name.rfind("grad.", 0) == 0)
      expected.push_back(name.substr(5));
  ASSERT_FALSE(expected.empty());
  ImportResult result = importSample();
  ASSERT_TRUE(result) << messages(result);
  // The exporter chose one of the names of a tied parameter, PyTorch another.
  for (const std::string &name : expected) {
    bool found = llvm::any_of(result.weights.all(), [&](const Weight &weight) {
      return weight.role == WeightRole::Trainable &&
             (weight.name == name || llvm::is_contained(weight.aliases, name));
    });
    EXPECT_TRUE(found) << name;
  }
  EXPECT_EQ(names(result, WeightRole::Trainable).size(), expected.size());
}

TEST_P(SampleFilesTest, leavesNoShapeComputation) {
  ImportResult result = importSample();
  ASSERT_TRUE(result) << messages(result);
  for (const std::string &op : operatorsOf(result))
    EXPECT_THAT(op, testing::Not(testing::AnyOf("range", "constant_of_shape",
                                                "shape", "cast_like", "cum_sum",
                                                "mod", "identity")));
  // What integers remain depends on the data.
  programOf(result).getBody().front().walk([](mlir::Operation *op) {
    if (op->getNumResults() == 0)
      return;
    auto type = mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType());
    EXPECT_TRUE(type.hasStaticShape());
    bool isArithmetic = mlir::isa<graph::AddOp, graph::MulOp, graph::SubOp>(op);
    EXPECT_TRUE(!isArithmetic ||
                mlir::isa<mlir::FloatType>(type.getElementType()))
        << op->getName().getStringRef().str();
  });
}

TEST_P(SampleFilesTest, opsKeepTheirNodesNames) {
  ImportResult result = importSample();
  ASSERT_TRUE(result) << messages(result);
  for (mlir::Operation &op : programOf(result).getBody().front()) {
    if (mlir::isa<graph::ConstantOp>(op))
      continue;
    auto name = mlir::dyn_cast<mlir::NameLoc>(op.getLoc());
    ASSERT_TRUE(name);
    EXPECT_FALSE(name.getName().empty());
  }
}

const std::vector<std::pair<std::string, int64_t>> kBatch8 = {{"batch", 8}};

const std::vector<Sample> kSamples = {
    Sample{"mlp.raw20", 8},
    Sample{"mlp.raw20train", 8},
    Sample{"mlp.script17train", 8},
    Sample{"mlp.dynamo18", 8},
    Sample{"mlp.dynamo23", 8},
    Sample{"cnn.raw20", 8, 2},
    Sample{"cnn.raw20train", 8, 2},
    Sample{"cnn.script17train", 8, 2},
    Sample{"cnn.dynamo18", 4, 0, "4 of the module's 8 parameters"},
    Sample{"cnn.dynamo23", 4, 0, "4 of the module's 8 parameters"},
    Sample{"resnet.raw20", 38, 24},
    Sample{"resnet.raw20train", 38, 24},
    Sample{"resnet.script17train", 38, 24},
    Sample{"resnet.dynamo18", 2, 0, "36 of the module's 38 parameters"},
    Sample{"resnet.dynamo23", 2, 0, "36 of the module's 38 parameters"},
    Sample{"bert.raw20", 41},
    Sample{"bert.raw20train", 41},
    Sample{"bert.script17train", 41},
    Sample{"bert.dynamo18", 6, 0, "35 of the module's 41 parameters"},
    Sample{"bert.dynamo23", 6, 0, "35 of the module's 41 parameters"},
    Sample{"gpt2.raw20", 28},
    Sample{"gpt2.raw20train", 28},
    Sample{"gpt2.dynamo18", 11, 0, "17 of the module's 28 parameters"},
    Sample{"gpt2.dynamo23", 11, 0, "17 of the module's 28 parameters"},
    Sample{"digits_cnn.raw20", 11, 6, "", kBatch8},
    Sample{"digits_cnn.script17train", 11, 6, "", kBatch8},
    Sample{"bert_masked.raw20", 39, 0, "", kBatch8},
    Sample{"bert_masked.script17train", 39, 0, "", kBatch8},
    Sample{"self_loss.raw20", 4, 0, "", kBatch8},
    Sample{"self_loss.script17train", 4, 0, "", kBatch8},
    Sample{"dropout.raw20", 4, 0, "", kBatch8},
    Sample{"dropout.script17train", 4, 0, "", kBatch8},
    Sample{"functions", 4, 0, "", kBatch8}};

std::vector<Sample> samplesWithGradients() {
  std::vector<Sample> samples;
  llvm::copy_if(kSamples, std::back_inserter(samples),
                [](const Sample &sample) {
                  return sample.isComplete() && sample.model() != "dropout";
                });
  return samples;
}

std::string testName(const testing::TestParamInfo<Sample> &info) {
  std::string name = info.param.file;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, SampleFilesTest, testing::ValuesIn(kSamples),
                         testName);
INSTANTIATE_TEST_SUITE_P(Complete, SampleParametersTest,
                         testing::ValuesIn(samplesWithGradients()), testName);

TEST_F(ImportTest, tiedEmbeddingIsOneParameterWithBothNames) {
  ImportResult result = importFile("gpt2.raw20.onnx");
  ASSERT_TRUE(result) << messages(result);
  const Weight *weight = result.weights.find("m.lm_head.weight");
  ASSERT_TRUE(weight);
  EXPECT_THAT(weight->aliases,
              testing::ElementsAre("m.transformer.wte.weight"));
}

TEST_F(ImportTest, convWithoutBiasHasNone) {
  ImportResult result = importFile("resnet.raw20.onnx");
  ASSERT_TRUE(result) << messages(result);
  for (auto conv : programOf(result).getBody().front().getOps<graph::ConvOp>())
    EXPECT_EQ(conv->getNumOperands(), 2u);
}

TEST_F(ImportTest, opsKnowTheirModule) {
  for (std::string file : {"bert.raw20.onnx", "bert.script17train.onnx"}) {
    ImportResult result = importFile(file);
    ASSERT_TRUE(result) << messages(result);
    std::string text = print(result);
    EXPECT_THAT(
        text, testing::HasSubstr(
                  "namespace = \"m.bert.encoder.layer.1.intermediate.dense\""))
        << file;
    EXPECT_THAT(text, testing::HasSubstr("origin = \"forward\""));
  }
}

TEST_F(ImportTest, functionsAreInlined) {
  ImportOptions options;
  options.dims = kBatch8;
  ImportResult result = importFile("functions.onnx", options);
  ASSERT_TRUE(result) << messages(result);
  EXPECT_THAT(operatorsOf(result),
              testing::ElementsAre("gemm", "tanh", "mul", "gemm"));
  EXPECT_EQ(outputShape(result, "logits"), (std::vector<int64_t>{8, 5}));
}

TEST_F(ImportTest, strippedModelHasNoWeights) {
  ImportResult result = importFile("mlp.raw20.onnx");
  ASSERT_TRUE(result) << messages(result);
  onnx::ModelProto stripped;
  ASSERT_TRUE(stripped.ParseFromString(result.strippedModel));
  ASSERT_EQ(stripped.graph().initializer_size(), 8);
  for (const auto &tensor : stripped.graph().initializer()) {
    EXPECT_FALSE(tensor.has_raw_data()) << tensor.name();
    EXPECT_EQ(
        tensor.dims_size(),
        static_cast<int>(result.weights.find(tensor.name())->shape.size()));
  }
  EXPECT_EQ(stripped.graph().node_size(), 6);
}

TEST_F(ImportTest, describesOutputs) {
  onnx::ModelProto model = textModel(
      "g (float[4,3] x) => (float[4,3] p, int64[4] label, float[4,3] y) {"
      "y = Relu(x) p = Softmax(y) label = ArgMax<axis = 1, keepdims = 0>(p) }");
  model.mutable_graph()->mutable_output()->DeleteSubrange(1, 1);
  ImportResult result = import(model);
  ASSERT_TRUE(result) << messages(result);
  std::vector<OutputDescription> outputs = describeOutputs(programOf(result));
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].activation, "softmax");
  EXPECT_NE(outputs[0].logits, mlir::Value());
  EXPECT_EQ(outputs[1].activation, "");
  EXPECT_TRUE(outputs[1].isFloat);
}

} // namespace
} // namespace halftone::onnx_frontend
