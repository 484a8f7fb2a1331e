// SPDX-License-Identifier: Apache-2.0
// Matrix products, attention and rotary embedding.
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tests/compiler/ops/ModelSamples.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace halftone::graph;
using namespace halftone::test;

namespace {

TEST(Product, RulesAndDecompositions) { checkRows(productSamples()); }

TEST(MatMul, BatchesBroadcastIntoEachOther) {
  OpCase row{"matmul", "", {{{2, 1, 1, 2}}, {{1, 2, 2, 1}}}};
  expectNear(resultOf(row, {{1, 2, 3, 4}, {1, 10, 5, 100}}),
             {21, 205, 43, 415});
}

/// Canonicalizes the program around `built`, whose op's result stays alive.
ProgramOp canonicalize(BuiltOp &built) {
  auto program = cast<ProgramOp>(built.op->getParentOp());
  RewritePatternSet patterns(&built.context);
  for (RegisteredOperationName name : built.context.getRegisteredOperations())
    name.getCanonicalizationPatterns(patterns, &built.context);
  EXPECT_TRUE(
      succeeded(applyPatternsAndFoldGreedily(program, std::move(patterns))));
  return program;
}

TEST(MatMul, CanonicalizationExpandsBatches) {
  BuiltOp built({"matmul", "", {{{2, 1, 3, 4}}, {{5, 4, 2}}}});
  ASSERT_TRUE(built.op) << built.message;
  OpBuilder(built.op->getBlock(), built.op->getBlock()->end())
      .create<OutputOp>(built.op->getLoc(), "y", built.op->getResult(0));
  ProgramOp program = canonicalize(built);
  auto product = *program.getBody().getOps<MatMulOp>().begin();
  EXPECT_EQ(shapeOf(product.getA()), (ArrayRef<int64_t>{2, 5, 3, 4}));
  EXPECT_EQ(shapeOf(product.getB()), (ArrayRef<int64_t>{2, 5, 4, 2}));
}

TEST(MatMul, CanonicalizationTakesTransposesIn) {
  BuiltOp built({"matmul", "", {{{2, 3, 4}}, {{5, 4}}}});
  // [5, 4] does not multiply; its transpose does.
  EXPECT_FALSE(built.op);
  BuiltOp good({"matmul", "transpose_b = true", {{{2, 3, 4}}, {{5, 4}}}});
  ASSERT_TRUE(good.op) << good.message;
  ImplicitLocOpBuilder b(good.op->getLoc(), good.op);
  Value turned =
      b.create<TransposeOp>(good.op->getOperand(1), DenseI64ArrayAttr());
  Value turnedA = b.create<TransposeOp>(good.op->getOperand(0),
                                        b.getDenseI64ArrayAttr({0, 2, 1}));
  Value product = b.create<MatMulOp>(turnedA, turned, true, false);
  b.setInsertionPointToEnd(good.op->getBlock());
  b.create<OutputOp>("y", product);
  good.op->erase();
  good.op = product.getDefiningOp();
  ProgramOp program = canonicalize(good);
  EXPECT_TRUE(program.getBody().getOps<TransposeOp>().empty());
  auto folded = *program.getBody().getOps<MatMulOp>().begin();
  EXPECT_FALSE(folded.getTransposeA());
  EXPECT_TRUE(folded.getTransposeB());
}

TEST(MatMul, Refusals) {
  checkRefusals({
      {{"matmul", "", {{{4}}, {{4, 5}}}}, "rank 2 or more"},
      {{"matmul", "", {{{3, 4}}, {{5, 4}}}}, "do not multiply"},
      {{"matmul", "", {{{2, 3, 4}}, {{3, 4, 5}}}}, "do not multiply"},
      {{"matmul", "", {{{3, 4}}, {{4, 5}}, {{3}}}}, "each of 5 columns"},
  });
}

TEST(Conv, CanonicalizationSplitsTheBias) {
  BuiltOp built({"conv", "", {{{1, 2, 3, 3}}, {{4, 2, 2, 2}}, {{4}}}});
  ASSERT_TRUE(built.op) << built.message;
  OpBuilder(built.op->getBlock(), built.op->getBlock()->end())
      .create<OutputOp>(built.op->getLoc(), "y", built.op->getResult(0));
  ProgramOp program = canonicalize(built);
  EXPECT_FALSE((*program.getBody().getOps<ConvOp>().begin()).getB());
  auto sum = *program.getBody().getOps<AddOp>().begin();
  EXPECT_EQ(shapeOf(sum.getB()), (ArrayRef<int64_t>{4, 1, 1}));
}

TEST(Gemm, Values) {
  OpCase row{"gemm",
             "alpha = 2.0 : f32, beta = 0.5 : f32, transB = 1 : si64",
             {{{1, 2}}, {{3, 2}}, {{3}}}};
  expectNear(resultOf(row, {{1, 10}, {1, 2, 3, 4, 5, 6}, {2, 4, 6}}),
             {43, 88, 133});

  checkRefusals({
      {{"gemm", "", {{{3, 4, 1}}, {{4, 5}}, kAbsent}}, "must be matrices"},
      {{"gemm", "", {{{3, 4}}, {{5, 4}}, kAbsent}}, "do not multiply"},
      {{"gemm", "", {{{3, 4}}, {{4, 5}}, {{3}}}}, "does not broadcast"},
  });
}

TEST(Attention, GroupedCausalValuesOfPyTorch) {
  OpCase row{
      "attention", "is_causal = 1 : si64",
      attentionOperands({{{1, 2, 2, 2}}, {{1, 1, 2, 2}}, {{1, 1, 2, 2}}})};
  expectNear(resultOf(row, {simple(8), simple(4, 2), simple(4, 4)}),
             {-1.0, 0.75, -0.674429160401, -0.118188905596, -1.0, 0.75,
              -0.649822871796, -0.183805675211},
             1e-7);
}

TEST(Attention, MaskedQueryGivesZeros) {
  OpCase row{
      "attention", "",
      attentionOperands(
          {{{1, 1, 2, 1}}, {{1, 1, 2, 1}}, {{1, 1, 2, 1}}, {{2, 2}, 'b'}})};
  expectNear(resultOf(row, {{1, 1}, {1, 1}, {3, 5}, {0, 0, 0, 1}}), {0, 5});
}

// A constant mask is read when the op is taken apart: only one that may leave
// a query without keys costs a guard.
TEST(Attention, GuardsOnlyWhereAQueryMayBeIdle) {
  auto guards = [](ArrayRef<bool> mask) {
    BuiltOp built(
        {"attention", "",
         attentionOperands(
             {{{1, 1, 2, 1}}, {{1, 1, 2, 1}}, {{1, 1, 2, 1}}, {{2, 2}, 'b'}})});
    EXPECT_TRUE(built.op) << built.message;
    ImplicitLocOpBuilder b(built.op->getLoc(), built.op);
    Type type = built.op->getOperand(3).getType();
    built.op->setOperand(
        3, b.create<ConstantOp>(
               type, DenseElementsAttr::get(cast<ShapedType>(type), mask)));
    cast<halftone::DecomposableOpInterface>(built.op).decompose(b);
    return llvm::range_size(built.op->getBlock()->getOps<ReduceMaxOp>());
  };
  EXPECT_EQ(guards({true, false, true, true}), 0);
  EXPECT_EQ(guards({true, false, false, false}), 1);
}

TEST(Attention, Refusals) {
  Operand q{{2, 4, 3, 2}}, k{{2, 2, 5, 2}}, v{{2, 2, 5, 3}};
  checkRefusals({
      {{"attention", "",
        attentionOperands({{{2, 3, 8}}, {{2, 5, 4}}, {{2, 5, 6}}})},
       "head counts"},
      {{"attention", "", attentionOperands({{{2, 3, 3, 2}}, k, v})},
       "do not fit"},
      {{"attention", "", attentionOperands({q, k, v, {{4, 5}}})},
       "does not broadcast"},
      {{"attention", "", attentionOperands({q, k, v, kAbsent, {{2, 2, 3, 2}}})},
       "come together"},
  });
}

TEST(RotaryEmbedding, Values) {
  // A quarter turn at position 0, none at position 1.
  OpCase row{"rotary_embedding",
             "",
             {{{1, 1, 2, 2}}, {{1, 2, 1}}, {{1, 2, 1}}, kAbsent}};
  expectNear(resultOf(row, {{3, 4, 5, 6}, {0, 1}, {1, 0}}), {-4, 3, 5, 6});
  Operand ids{{2, 3}, 'i', 0, 6};
  checkRefusals({
      {{"rotary_embedding", "", {{{2, 3, 12}}, {{7, 2}}, {{7, 2}}, ids}},
       "num_heads"},
      {{"rotary_embedding", "", {{{2, 2, 3, 7}}, {{7, 2}}, {{7, 2}}, ids}},
       "in pairs"},
      {{"rotary_embedding", "", {{{2, 2, 3, 8}}, {{7, 2}}, {{7, 2}}, ids}},
       "do not fit"},
  });
}

} // namespace
