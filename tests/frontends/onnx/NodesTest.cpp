// SPDX-License-Identifier: Apache-2.0
// How nodes become ops: folding, operand or attribute, casts, sequences.
#include "tests/frontends/onnx/TextModel.h"

using testing::AllOf, testing::ElementsAre, testing::HasSubstr, testing::Not;

namespace halftone::onnx_frontend {
namespace {

class NodesTest : public ImportTest {
protected:
  ImportResult good(const std::string &graph, int opset = 20,
                    const ImportOptions &options = {}) {
    ImportResult result = import(textModel(graph, opset), options);
    EXPECT_TRUE(result) << messages(result);
    return result;
  }
};

TEST_F(NodesTest, shapeComputationsFold) {
  ImportResult result =
      good("g (float[4,6] x) => (float[2,2,6] y) { s = Shape(x) i = "
           "Constant<value_ints = [0]>() n = Gather(s, i)"
           "two = Constant<value_ints = [2]>() half = Div(n, two) end = "
           "Constant<value_ints = [-1]>()"
           "shape = Concat<axis = 0>(two, half, end) y = Reshape(x, shape) }");
  EXPECT_THAT(operatorsOf(result), ElementsAre("reshape"));
  EXPECT_EQ(outputShape(result, "y"), (std::vector<int64_t>{2, 2, 6}));
}

TEST_F(NodesTest, integersStayExact) {
  ImportResult result = good(
      "g (float[4,6] x) => (float[3,6] y) { s = Constant<value_ints = [1]>()"
      "e = Constant<value_ints = [9223372036854775807]>() a = "
      "Constant<value_ints = [0]>() y = Slice(x, s, e, a) }");
  EXPECT_EQ(outputShape(result, "y"), (std::vector<int64_t>{3, 6}));
  EXPECT_THAT(print(result), HasSubstr("9223372036854775807"));
}

TEST_F(NodesTest, attributeAndInputFormsImportAlike) {
  ImportResult old = good(
      "g (float[4,6] x) => (float[4,1] y) { y = ReduceMean<axes = [1]>(x) }",
      17);
  ImportResult now = good("g (float[4,6] x) => (float[4,1] y) { a = "
                          "Constant<value_ints = [1]>() y = ReduceMean(x, a) }",
                          18);
  auto op = [](const ImportResult &result) {
    std::string text = print(result);
    size_t begin = text.find("graph.reduce_mean"),
           end = text.find("\"ReduceMean", begin);
    return text.substr(begin, end - begin);
  };
  EXPECT_EQ(op(old), op(now));
}

TEST_F(NodesTest, unnamedNodesAreCalledByTypeAndIndex) {
  ImportResult result = good("g (float[4] x) => (float[4] y) { [Relu_1] a = "
                             "Neg(x) b = Relu(a) y = Neg(b) }");
  EXPECT_THAT(print(result),
              AllOf(HasSubstr("\"Relu_1_\""), HasSubstr("\"Neg_2\"")));
}

TEST_F(NodesTest, deadAndUnsortedNodes) {
  ImportResult result = good("g (float[4] x) => (float[4] y) { y = Neg(a) a = "
                             "Relu(x) dead = Exp(x) }");
  EXPECT_THAT(operatorsOf(result), ElementsAre("relu", "neg"));
}

/// PyTorch's files have pools of opset 20 whose last window would start in the
/// padding; ONNX's shape inference counts it before opset 22.
TEST_F(NodesTest, windowsThatStartInThePaddingDoNotCount) {
  for (int opset : {13, 20, 21, 22}) {
    ImportResult result = good(
        "g (float[2,1,5] x) => (float[2,3] y) { p = MaxPool<kernel_shape = "
        "[2], strides = [2], pads = [1, 1], ceil_mode = 1>(x) r = Relu(p) "
        "n = Constant<value_ints = [2, 3]>() y = Reshape(r, n) }",
        opset);
    EXPECT_EQ(outputShape(result, "y"), (std::vector<int64_t>{2, 3})) << opset;
  }
  // Other shapes are still held against ONNX's.
  ImportResult result =
      good("g (float[2,1,5] x) => (float[a,b,c] y) { y = "
           "AveragePool<kernel_shape = [2], "
           "strides = [3], pads = [1, 1], ceil_mode = 1>(x) }");
  EXPECT_EQ(outputShape(result, "y"), (std::vector<int64_t>{2, 1, 2}));
}

TEST_F(NodesTest, identityVanishes) {
  ImportResult result = good("g (float[4] x) => (float[4] y) { a = Identity(x) "
                             "b = Relu(a) y = Identity(b) }");
  EXPECT_THAT(operatorsOf(result), ElementsAre("relu"));
}

TEST_F(NodesTest, matMulOfVectors) {
  for (const auto &[graph, shape] :
       std::vector<std::pair<std::string, std::vector<int64_t>>>{
           {"g (float[3] x, float[3] w) => (float y) { y = MatMul(x, w) }", {}},
           {"g (float[3] x, float[3,5] w) => (float[5] y) { y = MatMul(x, w) }",
            {5}},
           {"g (float[2,4,3] x, float[3] w) => (float[2,4] y) { y = MatMul(x, "
            "w) }",
            {2, 4}},
           {"g (float[3] x, float[2,3,5] w) => (float[2,5] y) { y = MatMul(x, "
            "w) }",
            {2, 5}}})
    EXPECT_EQ(outputShape(good(graph), "y"), shape) << graph;
}

TEST_F(NodesTest, castsBetweenFloatsAreDropped) {
  std::string graph = "g (float[4] x) => (float[4] y) { h = Cast<to = 10>(x) r "
                      "= Relu(h) s = Cast<to = 16>(r) y = Cast<to = 1>(s) }";
  ImportResult result = good(graph);
  EXPECT_THAT(operatorsOf(result), ElementsAre("relu"));
  EXPECT_THAT(messages(result, Severity::Notice),
              HasSubstr("3 Casts between float types dropped"));

  ImportOptions options;
  options.keepCasts = true;
  result = good(graph, 20, options);
  EXPECT_THAT(operatorsOf(result),
              ElementsAre("cast", "cast", "relu", "cast", "cast"));
  EXPECT_THAT(print(result),
              AllOf(HasSubstr("tensor<4xf16>"), HasSubstr("tensor<4xbf16>")));
}

TEST_F(NodesTest, castsOfIntegersStay) {
  ImportResult result = good("g (int64[4] x) => (float[4] y) { b = Cast<to = "
                             "9>(x) y = Cast<to = 1>(b) }");
  EXPECT_THAT(operatorsOf(result), ElementsAre("cast", "cast"));
  EXPECT_EQ(messages(result, Severity::Notice).find("Cast"), std::string::npos);
}

TEST_F(NodesTest, zeroBiasIsDropped) {
  auto model = textModel("g (float[1,2,5,5] x) => (float[1,3,3,3] y) { z = "
                         "Constant<value_float = 0.0>() c = CastLike(z, kernel)"
                         "n = Constant<value_ints = [3]>() b = Expand(c, n) y "
                         "= Conv(x, kernel, b) }");
  addInitializer(model, "kernel", {3, 2, 3, 3});
  ImportResult result = import(model);
  ASSERT_TRUE(result) << messages(result);
  EXPECT_THAT(operatorsOf(result), ElementsAre("conv"));
  auto conv =
      *programOf(result).getBody().front().getOps<graph::ConvOp>().begin();
  EXPECT_EQ(conv->getNumOperands(), 2u);
}

TEST_F(NodesTest, sequences) {
  ImportResult result =
      good("g (float[2,6] x) => (float[2,2] y, float[2,3,2] z, int64 n) { k = "
           "Constant<value_int = 2>()"
           "seq = SplitToSequence<axis = 1>(x, k) at = Constant<value_int = "
           "-1>() y = SequenceAt(seq, at)"
           "n = SequenceLength(seq) z = ConcatFromSequence<axis = 1, new_axis "
           "= 1>(seq) }");
  EXPECT_THAT(operatorsOf(result),
              ElementsAre("split", "reshape", "reshape", "reshape", "concat"));
  EXPECT_EQ(outputShape(result, "y"), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(outputShape(result, "z"), (std::vector<int64_t>{2, 3, 2}));
}

TEST_F(NodesTest, sequencesWithoutSplitAndEdits) {
  ImportResult result =
      good("g (float[3,2] x) => (float[6] y) { s = SplitToSequence<axis = 0, "
           "keepdims = 0>(x) a = SequenceErase(s)"
           "p = Constant<value_int = 0>() e = SequenceAt(a, p) b = "
           "SequenceInsert(a, e)"
           "y = ConcatFromSequence<axis = 0>(b) }");
  EXPECT_EQ(outputShape(result, "y"), (std::vector<int64_t>{6}));
}

TEST_F(NodesTest, rangesAndConstantsOfShape) {
  ImportResult result =
      good("g (int64[1] x) => (int64[4] y, float[2,3] z) { a = "
           "Constant<value_int = 1>() b = Constant<value_int = 8>()"
           "c = Constant<value_int = 2>() r = Range(a, b, c) y = Add(x, r) s = "
           "Constant<value_ints = [2, 3]>()"
           "z = ConstantOfShape(s) }");
  EXPECT_THAT(print(result), HasSubstr("dense<[1, 3, 5, 7]>"));
  EXPECT_EQ(outputShape(result, "z"), (std::vector<int64_t>{2, 3}));
}

TEST_F(NodesTest, doublesBecomeFloats) {
  ImportResult result =
      good("g (double[4] x) => (double[4] y) { y = Relu(x) }");
  EXPECT_THAT(print(result), Not(HasSubstr("f64")));
  EXPECT_THAT(messages(result, Severity::Notice), HasSubstr("becomes float32"));
}

} // namespace
} // namespace halftone::onnx_frontend
