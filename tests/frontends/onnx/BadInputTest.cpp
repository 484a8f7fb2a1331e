// SPDX-License-Identifier: Apache-2.0
// What is refused, with the message that says why. Nothing throws or aborts.
#include "onnx/defs/parser.h"
#include "tests/frontends/onnx/TextModel.h"
#include <fstream>
#include <random>

using testing::HasSubstr, testing::AllOf, testing::Not;

namespace halftone::onnx_frontend {
namespace {

class BadInputTest : public ImportTest {
protected:
  std::string errorsOf(const std::string &bytes) {
    return errorsOf(importBytes(context, bytes, "", {}));
  }
  std::string errorsOf(const onnx::ModelProto &model,
                       const ImportOptions &options = {}) {
    return errorsOf(import(model, options));
  }
  std::string errorsOf(const ImportResult &result) {
    EXPECT_FALSE(result);
    std::string text = messages(result);
    EXPECT_NE(text, "");
    return text;
  }
  /// One error, no more.
  std::string errorOf(const onnx::ModelProto &model,
                      const ImportOptions &options = {}) {
    std::string text = errorsOf(model, options);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 0) << text;
    return text;
  }
};

std::string fileBytes(const std::string &name) {
  std::ifstream in(HALFTONE_TESTDATA "/models/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(BadInputTest, missingFile) {
  EXPECT_THAT(errorsOf(importFile("nowhere.onnx")),
              HasSubstr("there is no file"));
  EXPECT_THAT(errorsOf(importFile("")), HasSubstr("is a folder"));
}

TEST_F(BadInputTest, filesOfOtherKinds) {
  EXPECT_THAT(errorsOf(std::string("PK\x03\x04rest of a zip")),
              AllOf(HasSubstr("PyTorch file (.pt, .pth)"),
                    HasSubstr("torch.onnx.export")));
  EXPECT_THAT(errorsOf(std::string("\x80\x02}q\x00rest of a pickle", 20)),
              AllOf(HasSubstr("pickle"), HasSubstr("torch.onnx.export")));
  EXPECT_THAT(errorsOf(std::string("\x10\0\0\0\0\0\0\0{\"w\":{}}", 17)),
              HasSubstr("safetensors"));
  EXPECT_THAT(errorsOf(std::string("\x89HDF\r\n")), HasSubstr("HDF5"));
  EXPECT_THAT(errorsOf(std::string()), HasSubstr("empty"));
}

TEST_F(BadInputTest, truncatedAtAnyPlace) {
  std::string bytes = fileBytes("mlp.raw20.onnx");
  ASSERT_GT(bytes.size(), 1000u);
  for (size_t length = 1; length < bytes.size(); length += bytes.size() / 97)
    errorsOf(bytes.substr(0, length));
}

TEST_F(BadInputTest, randomBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::string bytes(1 + random() % 300, '\0');
    for (char &byte : bytes)
      byte = static_cast<char>(random());
    errorsOf(bytes);
  }
}

TEST_F(BadInputTest, flippedBitsNeverAbort) {
  std::string bytes = fileBytes("functions.onnx");
  std::mt19937 random(11);
  ImportOptions options;
  options.batch = 4;
  for (int round = 0; round < 200; ++round) {
    std::string damaged = bytes;
    // Most of the file is weights; the structure is at its ends.
    size_t at =
        round % 2 ? random() % 400 : damaged.size() - 1 - random() % 600;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    ImportResult result = importBytes(context, damaged, "", options);
    EXPECT_NE(static_cast<bool>(result), messages(result) != "");
  }
}

TEST_F(BadInputTest, versions) {
  auto model = textModel("g (float[4] x) => (float[4] y) { y = Relu(x) }", 11);
  EXPECT_THAT(errorOf(model),
              AllOf(HasSubstr("opset 11"), HasSubstr("opset_version=20")));
  model = textModel("g (float[4] x) => (float[4] y) { y = Relu(x) }", 99);
  EXPECT_THAT(errorOf(model), HasSubstr("opset 99"));
  model = textModel("g (float[4] x) => (float[4] y) { y = Relu(x) }");
  model.set_ir_version(4);
  EXPECT_THAT(errorOf(model), HasSubstr("IR version 4"));
  model.set_ir_version(1000);
  EXPECT_THAT(errorOf(model), HasSubstr("IR version 1000"));
  model.clear_opset_import();
  model.set_ir_version(8);
  EXPECT_THAT(errorOf(model), HasSubstr("no version of ONNX's operators"));
}

TEST_F(BadInputTest, cyclicGraph) {
  auto model = textModel("g (float[4] x) => (float[4] y) { [first] a = Add(x, "
                         "b) [second] b = Relu(a) [third] y = Neg(b) }");
  EXPECT_THAT(errorOf(model),
              AllOf(HasSubstr("cyclic"), HasSubstr("first, second")));
}

TEST_F(BadInputTest, valuesThatNothingProduces) {
  EXPECT_THAT(errorOf(textModel(
                  "g (float[4] x) => (float[4] y) { [n] y = Add(x, ghost) }")),
              HasSubstr("nothing produces 1 value of the graph, with the "
                        "nodes that read it: ghost (n)"));
  EXPECT_THAT(
      errorOf(textModel("g (float[4] x) => (float[4] z) { y = Relu(x) }")),
      HasSubstr("z (the graph's outputs)"));
  EXPECT_THAT(
      errorOf(textModel(
          "g (float[4] x) => (float[4] y) { y = Relu(x) [again] y = Neg(x) }")),
      HasSubstr("1 value is produced twice, the second time by the nodes "
                "named: y (again)"));
}

TEST_F(BadInputTest, allUndefinedValuesAtOnce) {
  std::string nodes;
  for (const char *node : {"a", "b", "c"})
    nodes += std::string("[") + node + "] " + node + " = Add(ghost, phantom) ";
  EXPECT_THAT(errorOf(textModel("g (float[4] x) => (float[4] y, float[4] z) {" +
                                nodes + "[d] y = Neg(spook)}")),
              HasSubstr("nothing produces 4 values of the graph, with the "
                        "nodes that read them: ghost (a, b, c); phantom (a, b, "
                        "c); spook (d); z (the graph's outputs)"));
}

TEST_F(BadInputTest, namesThatAreNoText) {
  auto model = textModel(
      "g (float[4] x) => (float[4] y) { [a] t = Relu(x) [b] y = Neg(t) }");
  auto spoilt = [&](auto spoil) {
    onnx::ModelProto copy = model;
    spoil(copy, *copy.mutable_graph()->mutable_node(1));
    testing::internal::CaptureStderr();
    std::string error = errorsOf(copy.SerializeAsString());
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 0) << error;
    return error;
  };
  EXPECT_THAT(spoilt([](auto &, auto &node) { node.set_name("b\xff\n"); }),
              HasSubstr("1 name in the file is not valid UTF-8: "
                        "graph.node[1].name 'b\\FF\\0A'"));
  EXPECT_THAT(spoilt([](auto &, auto &node) { node.set_op_type("\xc3("); }),
              HasSubstr("graph.node[1].op_type '\\C3('"));
  EXPECT_THAT(spoilt([](auto &, auto &node) { node.set_domain("\xfe"); }),
              HasSubstr("graph.node[1].domain '\\FE'"));
  EXPECT_THAT(spoilt([](auto &, auto &node) {
                node.add_attribute()->set_name("\x80");
              }),
              HasSubstr("graph.node[1].attribute[0].name '\\80'"));
  EXPECT_THAT(spoilt([](auto &graph, auto &node) {
                node.set_output(0, "\xff");
                graph.mutable_graph()->mutable_output(0)->set_name("\xff");
              }),
              AllOf(HasSubstr("2 names in the file are not valid UTF-8"),
                    HasSubstr("graph.node[1].output[0] '\\FF'"),
                    HasSubstr("graph.output[0].name '\\FF'")));
}

TEST_F(BadInputTest, allUnsupportedOperatorsAtOnce) {
  auto model =
      textModel("g (float[4] x) => (float[4] y) { [a] p = Frobnicate(x) [b] q "
                "= Frobnicate(p) [c] r = com.acme.Blur(q)"
                "[d] y = NonMaxSuppression(r, r) }");
  auto *domain = model.add_opset_import();
  domain->set_domain("com.acme");
  domain->set_version(1);
  EXPECT_THAT(errorOf(model),
              AllOf(HasSubstr("3 operators of the model are not supported"),
                    HasSubstr("Frobnicate (a, b)"),
                    HasSubstr("com.acme.Blur (c)"),
                    HasSubstr("NonMaxSuppression (d)")));
}

TEST_F(BadInputTest, unsupportedOperatorInsideAFunction) {
  auto model = textModel("g (float[4] x) => (float[4] y) { y = local.F(x) } "
                         "<domain: \"local\", opset_import: [\"\" : 20]> F (a) "
                         "=> (b) { [inner] b = Frobnicate(a) }");
  auto *domain = model.add_opset_import();
  domain->set_domain("local");
  domain->set_version(1);
  EXPECT_THAT(errorOf(model), HasSubstr("Frobnicate (inner in function F)"));
}

TEST_F(BadInputTest, functionOfAnotherOpset) {
  auto model =
      textModel("g (float[4] x) => (float[4] y) { [call] y = local.F(x) } "
                "<domain: \"local\", opset_import: [\"\" : 18]> F (a) => (b) { "
                "b = ReduceSum<keepdims = 1>(a) }");
  auto *domain = model.add_opset_import();
  domain->set_domain("local");
  domain->set_version(1);
  EXPECT_THAT(errorsOf(model), AllOf(HasSubstr("local.F (called by call)"),
                                     HasSubstr("opset 18"), HasSubstr("20")));
}

TEST_F(BadInputTest, recursiveFunctions) {
  auto model = textModel("g (float[4] x) => (float[4] y) { y = local.F(x) } "
                         "<domain: \"local\", opset_import: [\"\" : 20, "
                         "\"local\" : 1]> F (a) => (b) { b = local.G(a) }"
                         "<domain: \"local\", opset_import: [\"\" : 20, "
                         "\"local\" : 1]> G (a) => (b) { b = local.F(a) }");
  auto *domain = model.add_opset_import();
  domain->set_domain("local");
  domain->set_version(1);
  errorsOf(model);
}

TEST_F(BadInputTest, functionsThatExplode) {
  std::string text = "g (float[4] x) => (float[4] y) { y = local.F0(x) } ";
  for (int i = 0; i < 40; ++i) {
    std::string next = "local.F" + std::to_string(i + 1);
    text += "<domain: \"local\", opset_import: [\"\" : 20, \"local\" : 1]> F" +
            std::to_string(i) + " (a) => (c) { b = " + next +
            "(a) c = " + next + "(b) }";
  }
  text += "<domain: \"local\", opset_import: [\"\" : 20]> F40 (a) => (b) { b = "
          "Relu(a) }";
  auto model = textModel(text);
  auto *domain = model.add_opset_import();
  domain->set_domain("local");
  domain->set_version(1);
  EXPECT_THAT(errorsOf(model), HasSubstr("1000000 nodes"));
}

TEST_F(BadInputTest, unboundDimensions) {
  auto model = textModel("g (float[batch,seq] x, float[batch,3] z) => "
                         "(float[batch,seq] y) { y = Relu(x) }");
  EXPECT_THAT(errorOf(model),
              AllOf(HasSubstr("batch, seq"), HasSubstr("--dim NAME=N"),
                    HasSubstr("--batch N")));
  ImportOptions options;
  options.batch = 2;
  EXPECT_THAT(errorOf(model, options),
              AllOf(HasSubstr("seq"), Not(HasSubstr("batch,"))));
  options.dims = {{"seq", 5}, {"sequence", 4}};
  EXPECT_THAT(errorOf(model, options),
              AllOf(HasSubstr("no input has a dimension 'sequence'"),
                    HasSubstr("batch, seq")));
  options.dims = {{"seq", 0}};
  EXPECT_THAT(errorOf(model, options), HasSubstr("at least 1"));
  options.dims = {{"seq", 5}, {"batch", 3}};
  EXPECT_THAT(errorOf(model, options), HasSubstr("disagree"));
}

TEST_F(BadInputTest, inputsThatMustBeConstant) {
  auto model = textModel("g (float[4,3] x, int64[2] shape) => (float[3,4] y) { "
                         "[flexible] y = Reshape(x, shape) }");
  EXPECT_THAT(errorOf(model), AllOf(HasSubstr("node 'flexible' (Reshape)"),
                                    HasSubstr("'shape' must be a constant")));
}

TEST_F(BadInputTest, shapesThatDoNotFit) {
  EXPECT_THAT(errorOf(textModel("g (float[4,3] x, float[4,3] w) => (float[4,3] "
                                "y) { [product] y = MatMul(x, w) }")),
              HasSubstr("node 'product' (MatMul)"));
  EXPECT_THAT(errorOf(textModel(
                  "g (float[4,3] x) => (float[5] y) { s = Constant<value_ints "
                  "= [5]>() [view] y = Reshape(x, s) }")),
              HasSubstr("node 'view' (Reshape)"));
}

TEST_F(BadInputTest, everyFailingNodeOnce) {
  auto model = textModel(
      "g (float[4,3] x, float[5] w, float[7] v) => (float[4,3] y, float[4,3] "
      "z) {"
      "[one] a = Add(x, w) [after] y = Relu(a) [two] z = Add(x, v) }");
  std::string text = errorsOf(model);
  EXPECT_THAT(text, AllOf(HasSubstr("node 'one'"), HasSubstr("node 'two'"),
                          Not(HasSubstr("after"))));
}

TEST_F(BadInputTest, unsupportedTypes) {
  EXPECT_THAT(errorOf(textModel(
                  "g (string[4] x) => (string[4] y) { y = Identity(x) }")),
              HasSubstr("string"));
  auto model = textModel("g (float[4] x) => (float[4] y) { y = Relu(x) }");
  auto &tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("table");
  tensor.set_data_type(onnx::TensorProto::COMPLEX64);
  tensor.add_dims(1);
  EXPECT_THAT(errorsOf(model),
              AllOf(HasSubstr("'table'"), HasSubstr("complex64")));
}

TEST_F(BadInputTest, initializersOfTheWrongSize) {
  auto model = textModel("g (float[4] x) => (float[4] y) { y = Add(x, w) }");
  addInitializer(model, "w", {4});
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, 5);
  EXPECT_THAT(errorOf(model),
              AllOf(HasSubstr("'w' holds 4 elements"), HasSubstr("needs 5")));
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, -1);
  EXPECT_THAT(errorOf(model), HasSubstr("impossible shape"));
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, INT64_MAX);
  EXPECT_THAT(errorOf(model), HasSubstr("impossible shape"));
}

TEST_F(BadInputTest, shapesWithoutEnd) {
  auto model =
      textModel("g (float[1] x) => (float[1,1,1] y) { s = Constant<value_ints "
                "= [4000000000, 4000000000, 4000000000]>()"
                "[big] y = Expand(x, s) [more] z = Relu(y) }");
  errorsOf(model);
  errorsOf(textModel("g (float[1] x) => (float[1] y) { a = Constant<value_int "
                     "= 0>() b = Constant<value_int = 9223372036854775807>()"
                     "c = Constant<value_int = 1>() r = Range(a, b, c) f = "
                     "Cast<to = 1>(r) y = Add(x, f) }"));
}

TEST_F(BadInputTest, patternsThatAreNone) {
  auto model = textModel("g (float[4] x) => (float[4] y) { y = Relu(x) }");
  ImportOptions options;
  options.freeze = {"(unclosed"};
  EXPECT_THAT(errorOf(model, options),
              AllOf(HasSubstr("--freeze"), HasSubstr("no regular expression")));
}

} // namespace
} // namespace halftone::onnx_frontend
