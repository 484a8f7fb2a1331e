// SPDX-License-Identifier: Apache-2.0
// What the operators fold to and are rewritten into, and that the catalogue is
// complete.
#include "compiler/graph/GraphOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <gtest/gtest.h>

using namespace mlir;
namespace graph = halftone::graph;

namespace {

std::unique_ptr<MLIRContext> makeContext() {
  auto context =
      std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<graph::GraphDialect>();
  return context;
}

/// A program that ends with `body`, whose last value is %y, canonicalized; null
/// where it does not parse or come to an end.
OwningOpRef<ModuleOp> canonicalizedModule(StringRef body,
                                          MLIRContext *context) {
  std::string text =
      ("graph.program @p {\n  %x = graph.input \"x\" : tensor<2x3xf32>\n" +
       body + "\n  graph.output \"y\", %y : " +
       body.rsplit("-> ").second.trim() + "\n}")
          .str();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  if (!module)
    return module;
  RewritePatternSet patterns(context);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
  if (failed(applyPatternsAndFoldGreedily(*module, std::move(patterns))))
    return {};
  return module;
}

/// The operators that remain of `body`, in order.
std::string canonicalized(StringRef body) {
  auto context = makeContext();
  auto module = canonicalizedModule(body, context.get());
  if (!module)
    return "does not parse or converge";
  std::string names;
  module->walk([&](Operation *op) {
    StringRef name = op->getName().stripDialect();
    if (isa<halftone::ReferenceOpInterface>(op) && name != "constant")
      names += (names.empty() ? "" : " ") + name.str();
  });
  return names;
}

struct Row {
  const char *body, *left;
};

TEST(Canonicalize, Rewrites) {
  const Row rows[] = {
      {"%y = graph.identity %x : (tensor<2x3xf32>) -> tensor<2x3xf32>", ""},
      {"%y = graph.cast %x {to = f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>",
       ""},
      {"%a = graph.cast %x {to = f64} : (tensor<2x3xf32>) -> tensor<2x3xf64>\n"
       "%y = graph.cast %a {to = f32} : (tensor<2x3xf64>) -> tensor<2x3xf32>",
       ""},
      // Narrowing loses digits: both stay.
      {"%a = graph.cast %x {to = bf16} : (tensor<2x3xf32>) -> "
       "tensor<2x3xbf16>\n"
       "%y = graph.cast %a {to = f32} : (tensor<2x3xbf16>) -> tensor<2x3xf32>",
       "cast cast"},
      {"%y = graph.cast_like %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
       "tensor<2x3xf32>",
       ""},
      {"%c = graph.constant dense<1.0> : tensor<3xf32>\n"
       "%y = graph.mul %c, %x : (tensor<3xf32>, tensor<2x3xf32>) -> "
       "tensor<2x3xf32>",
       ""},
      {"%c = graph.constant dense<0.0> : tensor<f32>\n"
       "%y = graph.add %x, %c : (tensor<2x3xf32>, tensor<f32>) -> "
       "tensor<2x3xf32>",
       ""},
      // The zeros make it larger.
      {"%c = graph.constant dense<0.0> : tensor<4x2x3xf32>\n"
       "%y = graph.add %x, %c : (tensor<2x3xf32>, tensor<4x2x3xf32>) -> "
       "tensor<4x2x3xf32>",
       "add"},
      {"%y = graph.flatten %x : (tensor<2x3xf32>) -> tensor<2x3xf32>", ""},
      {"%y = graph.unsqueeze %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> "
       "tensor<2x1x3xf32>",
       "reshape"},
      {"%a = graph.unsqueeze %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> "
       "tensor<2x1x3xf32>\n"
       "%y = graph.squeeze %a : (tensor<2x1x3xf32>) -> tensor<2x3xf32>",
       ""},
      {"%a = graph.reshape %x {shape = array<i64: 6>} : (tensor<2x3xf32>) -> "
       "tensor<6xf32>\n"
       "%y = graph.reshape %a {shape = array<i64: 3, 2>} : (tensor<6xf32>) -> "
       "tensor<3x2xf32>",
       "reshape"},
      {"%a = graph.transpose %x : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
       "%y = graph.transpose %a : (tensor<3x2xf32>) -> tensor<2x3xf32>",
       ""},
      {"%a = graph.unsqueeze %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> "
       "tensor<1x2x3xf32>\n"
       "%y = graph.transpose %a {perm = array<i64: 1, 0, 2>} : "
       "(tensor<1x2x3xf32>) -> tensor<2x1x3xf32>",
       "reshape"},
      {"%y = graph.expand %x {shape = array<i64: 1, 3>} : (tensor<2x3xf32>) -> "
       "tensor<2x3xf32>",
       ""},
      {"%y = graph.concat %x {axis = 0 : si64} : (tensor<2x3xf32>) -> "
       "tensor<2x3xf32>",
       ""},
      {"%y = graph.slice %x {starts = array<i64: 0>, ends = array<i64: 9>} : "
       "(tensor<2x3xf32>) -> tensor<2x3xf32>",
       ""},
      {"%c = graph.constant dense<-1> : tensor<i64>\n"
       "%y = graph.gather %x, %c {axis = 1 : si64} : (tensor<2x3xf32>, "
       "tensor<i64>) -> tensor<2xf32>",
       "slice reshape"},
      {"%c = graph.constant dense<[0, 2]> : tensor<2xi64>\n"
       "%y = graph.gather %x, %c {axis = 1 : si64} : (tensor<2x3xf32>, "
       "tensor<2xi64>) -> tensor<2x2xf32>",
       "slice"},
      {"%c = graph.constant dense<[0, 1, 2]> : tensor<3xi64>\n"
       "%y = graph.gather %x, %c {axis = 1 : si64} : (tensor<2x3xf32>, "
       "tensor<3xi64>) -> tensor<2x3xf32>",
       ""},
      {"%c = graph.constant dense<[1, 0]> : tensor<2xi64>\n"
       "%y = graph.gather %x, %c : (tensor<2x3xf32>, tensor<2xi64>) -> "
       "tensor<2x3xf32>",
       "gather"},
      {"%y, %m = graph.dropout %x {training_mode = false} : (tensor<2x3xf32>) "
       "-> (tensor<2x3xf32>, tensor<2x3xi1>)\n"
       "// -> tensor<2x3xf32>",
       ""},
      {"%y = graph.shape %x : (tensor<2x3xf32>) -> tensor<2xi64>", ""},
  };
  for (const Row &row : rows)
    EXPECT_EQ(canonicalized(row.body), row.left) << row.body;
}

// Where an op came from stays known: colours depend on it.
TEST(Canonicalize, KeepsDiscardableAttributes) {
  const char *bodies[] = {
      "%y = graph.unsqueeze %x {axes = array<i64: 0>, origin = \"k\"} : "
      "(tensor<2x3xf32>) -> tensor<1x2x3xf32>",
      "%c = graph.constant dense<1> : tensor<i64>\n"
      "%y = graph.gather %x, %c {origin = \"k\"} : "
      "(tensor<2x3xf32>, tensor<i64>) -> tensor<3xf32>",
      "%a = graph.transpose %x {origin = \"k\"} : "
      "(tensor<2x3xf32>) -> tensor<3x2xf32>\n"
      "%b = graph.reshape %a {shape = array<i64: 6>, origin = \"k\"} : "
      "(tensor<3x2xf32>) -> tensor<6xf32>\n"
      "%y = graph.reshape %b {shape = array<i64: 2, 3>, origin = \"k\"} : "
      "(tensor<6xf32>) -> tensor<2x3xf32>",
      "%c = graph.constant dense<1.0> : tensor<bf16>\n"
      "%y = graph.cast_like %x, %c {origin = \"k\"} : "
      "(tensor<2x3xf32>, tensor<bf16>) -> tensor<2x3xbf16>",
  };
  for (StringRef body : bodies) {
    auto context = makeContext();
    auto module = canonicalizedModule(body, context.get());
    ASSERT_TRUE(module) << body.str();
    module->walk([&](halftone::PrecisionOpInterface op) {
      EXPECT_TRUE(op->hasAttr("origin")) << body.str();
    });
  }
}

// Every operator says how it is computed, once, and whether it has a gradient.
// Composites without a rule are decomposed before differentiation.
TEST(Catalogue, FacetsAreComplete) {
  auto context = makeContext();
  int count = 0;
  for (RegisteredOperationName op : context->getRegisteredOperations()) {
    if (!op.hasInterface<InferTypeOpInterface>() ||
        !op.hasInterface<halftone::PrecisionOpInterface>())
      continue;
    SCOPED_TRACE(op.getStringRef().str());
    bool composite = op.hasInterface<halftone::DecomposableOpInterface>();
    int ways = composite + op.hasInterface<halftone::ScalarOpInterface>() +
               op.hasInterface<halftone::ElementOpInterface>() +
               op.hasInterface<halftone::ReductionOpInterface>() +
               op.hasInterface<halftone::ScatterOpInterface>() +
               op.hasInterface<halftone::LibraryOpInterface>();
    EXPECT_EQ(ways, 1);
    bool rule = op.hasInterface<halftone::DifferentiableOpInterface>();
    bool none = op.hasTrait<halftone::NoGradient>();
    EXPECT_TRUE(rule != none || (composite && !rule && !none));
    EXPECT_TRUE(op.hasInterface<halftone::ReferenceOpInterface>());
    ++count;
  }
  EXPECT_GT(count, 100);
}

} // namespace
