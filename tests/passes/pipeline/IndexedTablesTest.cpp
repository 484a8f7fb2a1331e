// SPDX-License-Identifier: Apache-2.0
// Which inputs are row numbers, and of how many rows.
#include "passes/pipeline/IndexedTables.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace halftone;

namespace {

/// "INPUT ROWS" of what is found in a program with some inputs and tables, in
/// batches of 2; "INPUT[FIRST, END) ROWS" for a part of each row.
std::string tablesOf(const std::string &body) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect>();
  auto module =
      parseSourceString<ModuleOp>(
          R"(graph.program @train {
  %ids = graph.input "ids" : tensor<2x3xi64>
  %narrow = graph.input "narrow" : tensor<2x3xi32>
  %scores = graph.input "scores" : tensor<2x3xf32>
  %trained = graph.parameter "trained" : tensor<10x4xf32>
  %frozen = graph.parameter "frozen" {role = "frozen"} : tensor<8x4xf32>
  %constant = graph.constant dense<1.0> : tensor<6x4xf32>
)" + body + "}\n",
          &context);
  if (!module)
    return "does not parse";
  auto rows =
      passes::findIndexedTables(*module->getOps<graph::ProgramOp>().begin());
  if (failed(rows))
    return "fails";
  std::vector<std::string> found;
  for (const auto &entry : *rows) {
    proto::Input input;
    passes::boundIndices(entry.second, /*batch=*/2, input);
    auto add = [&](const std::string &part, auto &bound) {
      EXPECT_EQ(bound.minimum(), -bound.maximum() - 1);
      found.push_back(entry.first().str() + part + " " +
                      std::to_string(bound.maximum() + 1));
    };
    if (input.minimum() != input.maximum())
      add("", input);
    for (const proto::Bound &bound : input.bounds())
      add("[" + std::to_string(bound.first()) + ", " +
              std::to_string(bound.end()) + ")",
          bound);
  }
  llvm::sort(found);
  std::string text;
  for (const std::string &line : found)
    text += (text.empty() ? "" : ", ") + line;
  return text;
}

std::string gather(const std::string &table, const std::string &shape,
                   const std::string &indices) {
  return "  %y_" + table + " = graph.gather %" + table + ", %" + indices +
         " : (tensor<" + shape +
         "x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>\n";
}

TEST(IndexedTables, TrainedFrozenAndConstantOnes) {
  EXPECT_EQ(tablesOf(gather("trained", "10", "ids")), "ids 10");
  EXPECT_EQ(tablesOf(gather("frozen", "8", "ids")), "ids 8");
  EXPECT_EQ(tablesOf(gather("constant", "6", "ids")), "ids 6");
  EXPECT_EQ(
      tablesOf(gather("trained", "10", "ids") + gather("constant", "6", "ids")),
      "ids 6");
}

TEST(IndexedTables, AlongTheAxis) {
  EXPECT_EQ(tablesOf("  %y = graph.gather %trained, %ids {axis = 1 : si64} : "
                     "(tensor<10x4xf32>, tensor<2x3xi64>) -> "
                     "tensor<10x2x3xf32>\n"),
            "ids 4");
  EXPECT_EQ(
      tablesOf("  %y = graph.gather_elements %scores, %ids {axis = -1 : si64} "
               ": (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>\n"),
      "ids 3");
}

TEST(IndexedTables, ThroughOpsThatKeepEveryValue) {
  EXPECT_EQ(tablesOf("  %i = graph.cast %narrow {to = i64} : "
                     "(tensor<2x3xi32>) -> tensor<2x3xi64>\n" +
                     gather("constant", "6", "i")),
            "narrow 6");
  EXPECT_EQ(tablesOf("  %t = graph.transpose %ids {perm = array<i64: 1, 0>} : "
                     "(tensor<2x3xi64>) -> tensor<3x2xi64>\n"
                     "  %i = graph.reshape %t {shape = array<i64: 2, 3>} : "
                     "(tensor<3x2xi64>) -> tensor<2x3xi64>\n" +
                     gather("constant", "6", "i")),
            "ids 6");
}

TEST(IndexedTables, ConstantsLieInside) {
  auto constant = [](const std::string &values) {
    return "  %i = graph.constant dense<" + values + "> : tensor<2x3xi64>\n" +
           gather("frozen", "8", "i");
  };
  EXPECT_EQ(tablesOf(constant("[[0, 7, -8], [1, 2, 3]]")), "");
  EXPECT_EQ(tablesOf(constant("[[0, 8, -8], [1, 2, 3]]")), "fails");
  EXPECT_EQ(tablesOf(constant("-9")), "fails");
}

/// A gather from the constant table by indices of the given shape.
std::string gatherOf(const std::string &indices, const std::string &shape) {
  return "  %y_" + indices + " = graph.gather %constant, %" + indices +
         " : (tensor<6x4xf32>, tensor<" + shape + "xi64>) -> tensor<" + shape +
         "x4xf32>\n";
}

TEST(IndexedTables, OnlyWhatASliceTakes) {
  std::string first =
      "  %s = graph.slice %ids {starts = array<i64: 0>, ends = array<i64: 2>, "
      "axes = array<i64: 1>} : (tensor<2x3xi64>) -> tensor<2x2xi64>\n";
  EXPECT_EQ(tablesOf(first + gatherOf("s", "2x2")), "ids[0, 2) 6");
  // The whole of it elsewhere: the smaller table where both read.
  EXPECT_EQ(
      tablesOf(first + gatherOf("s", "2x2") + gather("trained", "10", "ids")),
      "ids[0, 2) 6, ids[2, 3) 10");
  // Backwards and with gaps.
  EXPECT_EQ(
      tablesOf("  %s = graph.slice %ids {starts = array<i64: -1>, ends = "
               "array<i64: -4>, axes = array<i64: 1>, steps = "
               "array<i64: -2>} : (tensor<2x3xi64>) -> tensor<2x2xi64>\n" +
               gatherOf("s", "2x2")),
      "ids[0, 1) 6, ids[2, 3) 6");
}

TEST(IndexedTables, ColumnsOfTheirOwnTables) {
  EXPECT_EQ(
      tablesOf("  %p:3 = graph.split %ids {axis = 1 : si64, split = "
               "array<i64: 1, 1, 1>} : (tensor<2x3xi64>) -> (tensor<2x1xi64>, "
               "tensor<2x1xi64>, tensor<2x1xi64>)\n"
               "  %x = graph.gather %trained, %p#0 : (tensor<10x4xf32>, "
               "tensor<2x1xi64>) -> tensor<2x1x4xf32>\n"
               "  %y = graph.gather %frozen, %p#2 : (tensor<8x4xf32>, "
               "tensor<2x1xi64>) -> tensor<2x1x4xf32>\n"),
      "ids[0, 1) 10, ids[2, 3) 8");
}

TEST(IndexedTables, BesideOtherNumbers) {
  EXPECT_EQ(tablesOf("  %start = graph.constant dense<99> : tensor<2x1xi64>\n"
                     "  %s = graph.slice %ids {starts = array<i64: 0>, ends = "
                     "array<i64: 2>, axes = array<i64: 1>} : "
                     "(tensor<2x3xi64>) -> tensor<2x2xi64>\n"
                     "  %i = graph.concat %start, %s {axis = 1 : si64} : "
                     "(tensor<2x1xi64>, tensor<2x2xi64>) -> tensor<2x3xi64>\n" +
                     gatherOf("i", "2x3")),
            "ids[0, 2) 6");
  EXPECT_EQ(tablesOf("  %i = graph.pad %ids {pads = array<i64: 0, 1, 0, -1>} : "
                     "(tensor<2x3xi64>) -> tensor<2x3xi64>\n" +
                     gatherOf("i", "2x3")),
            "ids[0, 2) 6");
}

TEST(IndexedTables, WhatAConstantChooses) {
  EXPECT_EQ(tablesOf("  %c = graph.constant dense<[true, false, true]> : "
                     "tensor<3xi1>\n"
                     "  %z = graph.constant dense<99> : tensor<2x3xi64>\n"
                     "  %i = graph.where %c, %ids, %z : (tensor<3xi1>, "
                     "tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>\n" +
                     gatherOf("i", "2x3")),
            "ids[0, 1) 6, ids[2, 3) 6");
  EXPECT_EQ(tablesOf("  %c = graph.constant dense<[2, 0]> : tensor<2xi64>\n"
                     "  %i = graph.gather %ids, %c {axis = 1 : si64} : "
                     "(tensor<2x3xi64>, tensor<2xi64>) -> tensor<2x2xi64>\n" +
                     gatherOf("i", "2x2")),
            "ids[0, 1) 6, ids[2, 3) 6");
  // What data choose may be anything.
  EXPECT_EQ(
      tablesOf("  %c = graph.cast %narrow {to = i1} : (tensor<2x3xi32>) -> "
               "tensor<2x3xi1>\n"
               "  %z = graph.constant dense<0> : tensor<2x3xi64>\n"
               "  %i = graph.where %c, %ids, %z : (tensor<2x3xi1>, "
               "tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>\n" +
               gatherOf("i", "2x3")),
      "");
}

// A row may land at each place of a batch: what only some places index is
// allowed to be anything.
TEST(IndexedTables, WhatEachRowOfABatchIndexes) {
  EXPECT_EQ(tablesOf("  %s = graph.slice %ids {starts = array<i64: 0>, ends = "
                     "array<i64: 1>, axes = array<i64: 0>} : "
                     "(tensor<2x3xi64>) -> tensor<1x3xi64>\n" +
                     gatherOf("s", "1x3")),
            "");
}

TEST(IndexedTables, TuplesOfIndices) {
  EXPECT_EQ(tablesOf("  %t = graph.slice %ids {starts = array<i64: 0>, ends = "
                     "array<i64: 2>, axes = array<i64: 1>} : "
                     "(tensor<2x3xi64>) -> tensor<2x2xi64>\n"
                     "  %y = graph.gather_nd %constant, %t : "
                     "(tensor<6x4xf32>, tensor<2x2xi64>) -> tensor<2xf32>\n"),
            "ids[0, 1) 6, ids[1, 2) 4");
}

TEST(IndexedTables, NotThroughArithmetic) {
  EXPECT_EQ(tablesOf("  %i = graph.neg %ids : (tensor<2x3xi64>) -> "
                     "tensor<2x3xi64>\n" +
                     gatherOf("i", "2x3")),
            "");
  EXPECT_EQ(tablesOf("  %i = graph.cast %scores {to = i64} : "
                     "(tensor<2x3xf32>) -> tensor<2x3xi64>\n" +
                     gatherOf("i", "2x3")),
            "");
  EXPECT_EQ(tablesOf("  %m = graph.arg_max %scores {axis = 0 : si64} : "
                     "(tensor<2x3xf32>) -> tensor<1x3xi64>\n" +
                     gatherOf("m", "1x3")),
            "");
}

} // namespace
