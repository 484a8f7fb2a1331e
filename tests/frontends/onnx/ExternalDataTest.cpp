// SPDX-License-Identifier: Apache-2.0
// Data in files beside the model.
#include "tests/frontends/onnx/TextModel.h"
#include <fstream>

using testing::AllOf, testing::HasSubstr;
namespace fs = std::filesystem;

namespace halftone::onnx_frontend {
namespace {

class ExternalDataTest : public ImportTest {
protected:
  /// y = x * w, with w of 2x300 in a file.
  onnx::ModelProto model(const std::string &location,
                         const std::string &offset = "",
                         const std::string &length = "") {
    auto model = textModel(
        "g (float[4,2] x) => (float[4,300] y) { y = MatMul(x, weight) }");
    auto &tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name("weight");
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(2);
    tensor.add_dims(300);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    auto put = [&](const std::string &key, const std::string &value) {
      auto *entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    put("location", location);
    if (!offset.empty())
      put("offset", offset);
    if (!length.empty())
      put("length", length);
    return model;
  }

  void writeFloats(const fs::path &path, size_t count) {
    std::ofstream out(path, std::ios::binary);
    for (size_t i = 0; i < count; ++i) {
      float value = static_cast<float>(i);
      out.write(reinterpret_cast<const char *>(&value), sizeof(value));
    }
  }

  ImportResult read(const onnx::ModelProto &model,
                    const ImportOptions &options = {}) {
    return import(model, options, (scratch.path / "model").string());
  }
  std::string errorOf(const onnx::ModelProto &model,
                      const ImportOptions &options = {}) {
    ImportResult result = read(model, options);
    EXPECT_FALSE(result);
    return messages(result);
  }

  void SetUp() override {
    fs::create_directories(scratch.path / "model" / "data");
  }

  ScratchFolder scratch;
};

TEST_F(ExternalDataTest, isReadAtItsOffset) {
  writeFloats(scratch.path / "model/data/w.bin", 700);
  ImportResult result = read(model("data/w.bin", "40", "2400"));
  ASSERT_TRUE(result) << messages(result);
  const Weight *weight = result.weights.find("weight");
  ASSERT_TRUE(weight);
  ASSERT_EQ(weight->data.size(), 600u);
  EXPECT_EQ(weight->data.front(), 10);
  EXPECT_EQ(weight->data.back(), 609);
  onnx::ModelProto stripped;
  ASSERT_TRUE(stripped.ParseFromString(result.strippedModel));
  EXPECT_EQ(stripped.graph().initializer(0).external_data_size(), 0);
}

TEST_F(ExternalDataTest, offsetAndLengthAreOptional) {
  writeFloats(scratch.path / "model/w.bin", 600);
  EXPECT_TRUE(read(model("w.bin")));
}

TEST_F(ExternalDataTest, modelFileKnowsItsFolder) {
  writeFloats(scratch.path / "model/w.bin", 600);
  std::ofstream(scratch.path / "model/m.onnx", std::ios::binary)
      << model("w.bin").SerializeAsString();
  ImportResult result =
      importModel(context, (scratch.path / "model/m.onnx").string(), {});
  EXPECT_TRUE(result) << messages(result);
}

TEST_F(ExternalDataTest, pathsOutsideAreRefused) {
  writeFloats(scratch.path / "secret.bin", 600);
  fs::create_symlink(scratch.path / "secret.bin",
                     scratch.path / "model/link.bin");
  fs::create_directory_symlink(scratch.path, scratch.path / "model/up");
  std::string absolute = (scratch.path / "secret.bin").string();
  for (std::string location :
       {std::string("../secret.bin"), std::string("data/../../secret.bin"),
        absolute, std::string(""), std::string("data\\w.bin"),
        std::string("C:/w.bin")})
    EXPECT_THAT(
        errorOf(model(location)),
        AllOf(HasSubstr("'weight'"), HasSubstr("outside the model's folder")))
        << location;
  for (std::string location : {"link.bin", "up/secret.bin"})
    EXPECT_THAT(errorOf(model(location)),
                HasSubstr("is a link to a place outside"))
        << location;
}

TEST_F(ExternalDataTest, tooShort) {
  writeFloats(scratch.path / "model/w.bin", 599);
  EXPECT_THAT(errorOf(model("w.bin")),
              AllOf(HasSubstr("too short"), HasSubstr("2400 bytes"),
                    HasSubstr("has 2396")));
  EXPECT_THAT(errorOf(model("w.bin", "18446744073709551615")),
              HasSubstr("too short"));
  EXPECT_THAT(errorOf(model("w.bin", "0", "100")),
              HasSubstr("gives 100 bytes"));
  EXPECT_THAT(errorOf(model("w.bin", "ten")), HasSubstr("no number"));
  EXPECT_THAT(errorOf(model("w.bin", "-4")), HasSubstr("no number"));
}

TEST_F(ExternalDataTest, folderInsteadOfFile) {
  EXPECT_THAT(errorOf(model("data")), HasSubstr("no regular file"));
}

TEST_F(ExternalDataTest, missingFile) {
  EXPECT_THAT(errorOf(model("w.bin")),
              AllOf(HasSubstr("'w.bin' is missing"), HasSubstr("weight"),
                    HasSubstr("--init random")));
  ImportOptions options;
  options.randomInit = true;
  ImportResult result = read(model("w.bin"), options);
  ASSERT_TRUE(result) << messages(result);
  const Weight *weight = result.weights.find("weight");
  ASSERT_TRUE(weight);
  EXPECT_TRUE(weight->missing);
  EXPECT_TRUE(weight->data.empty());
  EXPECT_EQ(weight->size(), 600);
  EXPECT_EQ(weight->init.deviation, 0.02);
}

TEST_F(ExternalDataTest, missingConstantCannotBeDrawn) {
  auto ints = textModel(
      "g (float[600] x) => (float[600] y) { y = Gather(x, position) }");
  *ints.mutable_graph()->add_initializer() =
      model("w.bin").graph().initializer(0);
  auto &tensor = *ints.mutable_graph()->mutable_initializer(0);
  tensor.set_name("position");
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.clear_dims();
  tensor.add_dims(600);
  ImportOptions options;
  options.randomInit = true;
  EXPECT_THAT(errorOf(ints, options),
              AllOf(HasSubstr("position"),
                    HasSubstr("only parameters and statistics can be drawn")));
}

} // namespace
} // namespace halftone::onnx_frontend
