// SPDX-License-Identifier: Apache-2.0
// Parameters, statistics and constants; ties; what the exporter lost.
#include "tests/frontends/onnx/TextModel.h"

using testing::AllOf, testing::ElementsAre, testing::HasSubstr, testing::Not;

namespace halftone::onnx_frontend {
namespace {

class RolesTest : public ImportTest {
protected:
  ImportResult good(const onnx::ModelProto &model,
                    const ImportOptions &options = {}) {
    ImportResult result = import(model, options);
    EXPECT_TRUE(result) << messages(result);
    return result;
  }
};

void setKind(onnx::ModelProto &model, const std::string &name,
             const std::string &kind) {
  auto *value = model.mutable_graph()->add_value_info();
  value->set_name(name);
  auto *type = value->mutable_type()->mutable_tensor_type();
  for (const auto &tensor : model.graph().initializer())
    if (tensor.name() == name) {
      type->set_elem_type(tensor.data_type());
      for (int64_t extent : tensor.dims())
        type->mutable_shape()->add_dim()->set_dim_value(extent);
    }
  auto *entry = value->add_metadata_props();
  entry->set_key("pkg.torch.export.graph_signature.InputSpec.kind");
  entry->set_value(kind);
}

void fill(onnx::ModelProto &model, int initializer,
          std::function<float(int)> value) {
  auto &data = *model.mutable_graph()
                    ->mutable_initializer(initializer)
                    ->mutable_float_data();
  for (int i = 0; i < data.size(); ++i)
    data[i] = value(i);
}

TEST_F(RolesTest, namesDecideWhereNoKindIsGiven) {
  auto model = textModel("g (float[4,3] x) => (float[4,3] y) { a = Mul(x, "
                         "weight) b = Add(a, val_12) c = Add(b, scalar)"
                         "d = Add(c, _inlfunc_w) y = Add(d, val_bias) }");
  addInitializer(model, "weight", {4, 3});
  addInitializer(model, "val_12", {3});
  addInitializer(model, "_inlfunc_w", {3});
  addInitializer(model, "val_bias", {3});
  addInitializer(model, "scalar", {});
  ImportResult result = good(model);
  EXPECT_THAT(names(result, WeightRole::Trainable),
              ElementsAre("val_bias", "weight"));
  EXPECT_THAT(messages(result, Severity::Notice),
              AllOf(HasSubstr("2 parameters to train"), HasSubstr("val_12"),
                    HasSubstr("--freeze")));
}

TEST_F(RolesTest, kindsDecideWhereAnyIsGiven) {
  auto model = textModel("g (float[4,3] x) => (float[4,3] y) { a = Mul(x, "
                         "weight) b = Add(a, embedding_1) y = Add(b, table) }");
  addInitializer(model, "weight", {4, 3});
  addInitializer(model, "embedding_1", {4, 3});
  addInitializer(model, "table", {4, 3});
  setKind(model, "weight", "PARAMETER");
  setKind(model, "table", "BUFFER");
  EXPECT_THAT(names(good(model), WeightRole::Trainable), ElementsAre("weight"));
}

TEST_F(RolesTest, freezeAndTrain) {
  auto model = textModel("g (float[4,3] x) => (float[4,3] y) { a = Mul(x, "
                         "enc_w) b = Add(a, head_w) y = Add(b, val_1) }");
  for (std::string name : {"enc_w", "head_w", "val_1"})
    addInitializer(model, name, {4, 3});
  ImportOptions options;
  options.freeze = {"."};
  options.train = {"^head_", "^val_\\d+$", "nothing"};
  ImportResult result = good(model, options);
  EXPECT_THAT(names(result, WeightRole::Trainable),
              ElementsAre("head_w", "val_1"));
  EXPECT_THAT(names(result, WeightRole::Frozen), ElementsAre("enc_w"));
  EXPECT_THAT(print(result), HasSubstr("\"enc_w\" {role = \"frozen\"}"));
  EXPECT_THAT(messages(result, Severity::Warning),
              HasSubstr("--train 'nothing' matches no float initializer"));
}

TEST_F(RolesTest, batchNormStatistics) {
  auto model = textModel("g (float[2,3,4,4] x) => (float[2,3,4,4] y) { y = "
                         "BatchNormalization(x, gamma, beta, mean, var) }");
  for (std::string name : {"gamma", "beta", "mean", "var"})
    addInitializer(model, name, {3});
  ImportOptions options;
  options.train = {"mean"};
  ImportResult result = good(model, options);
  EXPECT_THAT(names(result, WeightRole::Trainable),
              ElementsAre("beta", "gamma"));
  EXPECT_THAT(names(result, WeightRole::Statistic), ElementsAre("mean", "var"));
  EXPECT_THAT(messages(result, Severity::Warning), HasSubstr("never trained"));
  auto init = [&](const char *name) { return result.weights.find(name)->init; };
  EXPECT_EQ(init("gamma").mean, 1);
  EXPECT_EQ(init("beta").mean, 0);
  EXPECT_EQ(init("mean").mean, 0);
  EXPECT_EQ(init("var").mean, 1);
  for (std::string name : {"gamma", "beta", "mean", "var"})
    EXPECT_EQ(result.weights.find(name)->init.deviation, 0);
}

TEST_F(RolesTest, masksNeverTrain) {
  auto model = textModel("g (float[8,8] x) => (float[8,8] y) { a = Add(x, "
                         "causal) b = Mul(a, tril) y = Add(b, infinite) }");
  for (std::string name : {"causal", "tril", "infinite"})
    addInitializer(model, name, {8, 8});
  fill(model, 0, [](int i) { return i % 8 > i / 8 ? -3.4e38f : 0.f; });
  fill(model, 1, [](int i) { return i % 8 > i / 8 ? 0.f : 1.f; });
  fill(model, 2, [](int i) { return i % 8 > i / 8 ? -INFINITY : 0.f; });
  EXPECT_THAT(names(good(model), WeightRole::Trainable), ElementsAre());
}

float twoValued(int i) { return i % 3 == 0 ? 0.5f : -0.5f; }

// A causal mask by its pattern, as a factor and however small; the others by
// their names.
TEST_F(RolesTest, masksNeverTrainWhateverReadsThem) {
  auto model = textModel(
      "g (float[3,3] x) => (float[3,3] y) { a = Add(x, causal) b = MatMul(a, "
      "tril) c = Mul(kept, weight_mask) y = MatMul(b, c) z = Add(y, "
      "soft_mask) }");
  for (std::string name :
       {"causal", "tril", "weight_mask", "soft_mask", "kept"})
    addInitializer(model, name, {3, 3});
  fill(model, 0, [](int i) { return i % 3 > i / 3 ? -1e4f : 0.f; });
  fill(model, 1, [](int i) { return i % 3 < i / 3 ? 0.f : 1.f; });
  ImportResult result = good(model);
  EXPECT_THAT(names(result, WeightRole::Trainable), ElementsAre("kept"));
  EXPECT_THAT(messages(result, Severity::Notice),
              HasSubstr("4 masks (causal, tril, weight_mask, soft_mask)"));
  EXPECT_EQ(messages(result, Severity::Warning), "");
}

// By what reads them, by their names, or by what the file says.
TEST_F(RolesTest, parametersOfTwoValuesTrain) {
  auto model = textModel(
      "g (float[4,4] x, float[1,4,4,4] z) => (float[4,4] y, float[1,1,4,4] u) "
      "{ t = Transpose<perm = [1, 0]>(turned) a = MatMul(x, plain) b = "
      "MatMul(a, t) c = MatMul(left, b) y = Mul(c, scale_weight) u = Conv(z, "
      "filter) }");
  for (std::string name : {"turned", "plain", "left", "scale_weight"})
    addInitializer(model, name, {4, 4});
  addInitializer(model, "filter", {1, 4, 2, 2});
  for (int k = 0; k < 5; ++k)
    fill(model, k, twoValued);
  ImportResult result = good(model);
  EXPECT_THAT(names(result, WeightRole::Trainable),
              ElementsAre("filter", "left", "plain", "scale_weight", "turned"));
  EXPECT_EQ(messages(result, Severity::Warning), "");

  model = textModel("g (float[4,4] x) => (float[4,4] y) { a = Add(x, shift) y "
                    "= Add(a, causal) }");
  addInitializer(model, "shift", {4, 4});
  addInitializer(model, "causal", {4, 4});
  fill(model, 0, twoValued);
  EXPECT_THAT(names(good(model), WeightRole::Trainable), ElementsAre("causal"));
  setKind(model, "shift", "PARAMETER");
  setKind(model, "causal", "BUFFER");
  EXPECT_THAT(names(good(model), WeightRole::Trainable), ElementsAre("shift"));
}

TEST_F(RolesTest, equalEmbeddingAndOutputMatrixAreTied) {
  auto model =
      textModel("g (int64[4] x) => (float[4,5] y) { e = Gather(table, x) t = "
                "Transpose<perm = [1, 0]>(head) y = MatMul(e, t) }");
  addInitializer(model, "table", {5, 3});
  addInitializer(model, "head", {5, 3});
  ImportResult result = good(model);
  EXPECT_THAT(names(result, WeightRole::Trainable), ElementsAre("table"));
  EXPECT_THAT(result.weights.find("table")->aliases, ElementsAre("head"));
  EXPECT_THAT(messages(result, Severity::Notice),
              HasSubstr("trained as one parameter"));
}

TEST_F(RolesTest, equalLayersAreNotTied) {
  // Deep-copied layers and norm scales start equal and are trained apart.
  auto model =
      textModel("g (float[4,3] x) => (float[4,3] y) { a = MatMul(x, one) b = "
                "MatMul(a, two) c = Mul(b, ln1) y = Mul(c, ln2) }");
  addInitializer(model, "one", {3, 3});
  addInitializer(model, "two", {3, 3});
  addInitializer(model, "ln1", {3});
  addInitializer(model, "ln2", {3});
  EXPECT_EQ(names(good(model), WeightRole::Trainable).size(), 4u);
}

TEST_F(RolesTest, transposedCopyOfAParameterIsTheParameter) {
  auto model = textModel("g (int64[4] x) => (float[4,5] y) { e = Gather(table, "
                         "x) y = MatMul(e, onnx__) }");
  addInitializer(model, "table", {5, 3});
  addInitializer(model, "onnx__", {3, 5});
  fill(model, 1, [](int i) {
    return 0.5f + 0.01f * static_cast<float>((i % 5) * 3 + i / 5);
  });
  model.mutable_graph()->mutable_initializer(1)->set_name("onnx::MatMul_7");
  model.mutable_graph()->mutable_node(1)->set_input(1, "onnx::MatMul_7");
  ImportResult result = good(model);
  EXPECT_THAT(operatorsOf(result),
              ElementsAre("transpose", "gather", "matmul"));
  EXPECT_THAT(result.weights.find("table")->transposes,
              ElementsAre("onnx::MatMul_7"));
  EXPECT_EQ(messages(result, Severity::Warning), "");
}

TEST_F(RolesTest, foldedMatricesWithoutSignatureAreReported) {
  auto model =
      textModel("g (float[4,3] x) => (float[4,5] y) { y = MatMul(x, val_3) }");
  addInitializer(model, "val_3", {3, 5});
  EXPECT_THAT(messages(good(model), Severity::Warning),
              AllOf(HasSubstr("val_3"), HasSubstr("tools/export_torch.py")));
}

TEST_F(RolesTest, lostParametersAreCountedAndNamed) {
  auto model = textModel(
      "g (float[4,3] x) => (float[4,5] y) { y = MatMul(x, kept_weight) }");
  addInitializer(model, "kept_weight", {3, 5});
  setKind(model, "kept_weight", "PARAMETER");
  auto *entry = model.mutable_graph()->add_metadata_props();
  entry->set_key("pkg.torch.export.ExportedProgram.graph_signature");
  entry->set_value("\n# inputs\np_a: PARAMETER target='kept_weight'\np_b: "
                   "PARAMETER target='gone.weight'\n"
                   "b_c: BUFFER target='gone.mean' persistent=True\nx: "
                   "USER_INPUT\n\n# outputs\ny: USER_OUTPUT\n");
  EXPECT_THAT(messages(good(model), Severity::Warning),
              AllOf(HasSubstr("1 of the module's 2 parameters"),
                    HasSubstr("gone.weight"), Not(HasSubstr("gone.mean"))));
}

TEST_F(RolesTest, halfInitializersWiden) {
  auto model = textModel(
      "g (float16[4,3] x) => (float16[4,3] y) { y = Mul(x, weight) }");
  auto &tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("weight");
  tensor.set_data_type(onnx::TensorProto::FLOAT16);
  tensor.add_dims(3);
  for (int bits : {0x3c00, 0xc100, 0x0001})
    tensor.add_int32_data(bits);
  ImportResult result = good(model);
  const Weight *weight = result.weights.find("weight");
  ASSERT_TRUE(weight);
  EXPECT_THAT(weight->data, ElementsAre(1.f, -2.5f, 0x1p-24f));
  EXPECT_EQ(weight->sourceType, "float16");
  EXPECT_THAT(print(result),
              AllOf(Not(HasSubstr("f16")), HasSubstr("tensor<4x3xf32>")));
}

TEST_F(RolesTest, largeConstantsAreKeptWithTheWeights) {
  auto model =
      textModel("g (float[2000] x) => (float[2000] y) { y = Add(x, val_1) }");
  addInitializer(model, "val_1", {2000});
  ImportResult result = good(model);
  EXPECT_THAT(names(result, WeightRole::Constant), ElementsAre("val_1"));
  EXPECT_THAT(print(result), HasSubstr("\"val_1\" {role = \"constant\"}"));
}

TEST_F(RolesTest, parametersThatNothingReadsAreStillThere) {
  auto model = textModel("g (float[4] x) => (float[4] y) { y = Relu(x) }");
  addInitializer(model, "pooler.weight", {3, 3});
  ImportResult result = good(model);
  EXPECT_THAT(names(result, WeightRole::Trainable),
              ElementsAre("pooler.weight"));
  EXPECT_THAT(print(result), HasSubstr("\"pooler.weight\""));
}

} // namespace
} // namespace halftone::onnx_frontend
