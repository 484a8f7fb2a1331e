// SPDX-License-Identifier: Apache-2.0
// --batch: symbolic leading dimensions are bound, static ones changed where the
// graph allows it.
#include "tests/frontends/onnx/TextModel.h"

using testing::AllOf, testing::HasSubstr;

namespace halftone::onnx_frontend {
namespace {

class BatchTest : public ImportTest {
protected:
  ImportOptions batch(int64_t n) {
    ImportOptions options;
    options.batch = n;
    return options;
  }
};

TEST_F(BatchTest, bindsASymbolicDimension) {
  ImportResult result = importFile("bert_masked.raw20.onnx", batch(3));
  ASSERT_TRUE(result) << messages(result);
  EXPECT_EQ(outputShape(result, "logits"), (std::vector<int64_t>{3, 16, 5}));
  ASSERT_EQ(result.boundDims.size(), 1u);
  EXPECT_EQ(result.boundDims[0], (std::pair<std::string, int64_t>{"batch", 3}));
}

TEST_F(BatchTest, namelessDimensionsAreCalledByInputAndAxis) {
  auto model = textModel("g (float[?,3] x) => (float[?,3] y) { y = Relu(x) }");
  ImportOptions options;
  options.dims = {{"x.0", 7}};
  ImportResult result = import(model, options);
  ASSERT_TRUE(result) << messages(result);
  EXPECT_EQ(outputShape(result, "y"), (std::vector<int64_t>{7, 3}));
}

TEST_F(BatchTest, changesAStaticOne) {
  for (std::string file :
       {"mlp.raw20.onnx", "mlp.script17train.onnx", "cnn.script17train.onnx"}) {
    ImportResult result = importFile(file, batch(6));
    ASSERT_TRUE(result) << file << ": " << messages(result);
    EXPECT_EQ(outputShape(result, "logits")[0], 6) << file;
    EXPECT_THAT(messages(result, Severity::Notice), HasSubstr("becomes 6"));
  }
}

TEST_F(BatchTest, sameBatchIsNoChange) {
  ImportResult result = importFile("mlp.raw20.onnx", batch(8));
  ASSERT_TRUE(result) << messages(result);
  EXPECT_EQ(messages(result, Severity::Notice).find("becomes"),
            std::string::npos);
}

TEST_F(BatchTest, fixedShapesAreNamed) {
  auto model =
      textModel("g (float[8,6] x) => (float[16,3] y) { s = Constant<value_ints "
                "= [16, 3]>() [view] y = Reshape(x, s) }");
  ImportResult result = import(model, batch(4));
  ASSERT_FALSE(result);
  EXPECT_THAT(messages(result),
              AllOf(HasSubstr("batch of 8"), HasSubstr("view"),
                    HasSubstr("dynamic_shapes")));
}

TEST_F(BatchTest, reshapesThatWouldMoveTheBatchAreFound) {
  // With -1 this imports for every batch, but it would spread a sample over
  // rows.
  auto model =
      textModel("g (float[8,6] x) => (float[8,6] y) { s = Constant<value_ints "
                "= [8, -1]>() [view] y = Reshape(x, s) }");
  ImportResult result = import(model, batch(4));
  ASSERT_FALSE(result);
  EXPECT_THAT(messages(result), HasSubstr("view (reshape)"));
}

TEST_F(BatchTest, slicesOfTheBatchAreFound) {
  auto model =
      textModel("g (float[8,6] x) => (float[4,6] y) { b = Constant<value_ints "
                "= [0]>() e = Constant<value_ints = [4]>()"
                "[cut] y = Slice(x, b, e) }");
  ImportResult result = import(model, batch(16));
  ASSERT_FALSE(result);
  EXPECT_THAT(messages(result), HasSubstr("cut (slice)"));
}

TEST_F(BatchTest, reductionsMayEndTheBatch) {
  auto model = textModel("g (float[8,6] x) => (float y) { [mean] y = "
                         "ReduceMean<keepdims = 0>(x) }");
  ImportResult result = import(model, batch(5));
  EXPECT_TRUE(result) << messages(result);
}

TEST_F(BatchTest, flattenedBatchesAreFine) {
  auto model =
      textModel("g (float[8,5,6] x) => (float[8,5,6] y) { s = "
                "Constant<value_ints = [-1, 6]>() a = Reshape(x, s) r = Relu(a)"
                "t = Constant<value_ints = [-1, 5, 6]>() y = Reshape(r, t) }");
  ImportResult result = import(model, batch(3));
  ASSERT_TRUE(result) << messages(result);
  EXPECT_EQ(outputShape(result, "y"), (std::vector<int64_t>{3, 5, 6}));
}

} // namespace
} // namespace halftone::onnx_frontend
