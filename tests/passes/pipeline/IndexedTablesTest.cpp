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

/// "INPUT ROWS" of what is found in a program with some inputs and tables.
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
  for (const auto &entry : *rows)
    found.push_back(entry.first().str() + " " + std::to_string(entry.second));
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

// What is computed from an input is another number, and a slice leaves values
// out that may be anything.
TEST(IndexedTables, NotThroughOthers) {
  EXPECT_EQ(tablesOf("  %i = graph.neg %ids : (tensor<2x3xi64>) -> "
                     "tensor<2x3xi64>\n" +
                     gather("constant", "6", "i")),
            "");
  EXPECT_EQ(tablesOf("  %i = graph.cast %scores {to = i64} : "
                     "(tensor<2x3xf32>) -> tensor<2x3xi64>\n" +
                     gather("constant", "6", "i")),
            "");
  EXPECT_EQ(tablesOf("  %m = graph.arg_max %scores {axis = 0 : si64} : "
                     "(tensor<2x3xf32>) -> tensor<1x3xi64>\n"
                     "  %y = graph.gather %constant, %m : (tensor<6x4xf32>, "
                     "tensor<1x3xi64>) -> tensor<1x3x4xf32>\n"),
            "");
  EXPECT_EQ(tablesOf("  %s = graph.slice %ids {starts = array<i64: 0>, ends = "
                     "array<i64: 2>, axes = array<i64: 1>} : "
                     "(tensor<2x3xi64>) -> tensor<2x2xi64>\n"
                     "  %y = graph.gather %constant, %s : (tensor<6x4xf32>, "
                     "tensor<2x2xi64>) -> tensor<2x2x4xf32>\n"),
            "");
}

} // namespace
