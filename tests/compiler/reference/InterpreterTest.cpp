// SPDX-License-Identifier: Apache-2.0
// Whole programs on the host: hand values, states, packs, refusals.
#include "compiler/reference/GradientCheck.h"
#include "tests/compiler/reference/ParsedModule.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace halftone;
using namespace halftone::reference;
using halftone::test::ParsedModule;

namespace {

constexpr const char *kStep = R"(
graph.program @train {
  %x = graph.input "x" : tensor<2x2xf32>
  %w = graph.parameter "w" : tensor<2xf32>
  %b = graph.parameter "b" : tensor<1xf32>
  %n = graph.state "count" {init = dense<3> : tensor<1xi64>} : tensor<i64>
  %p = graph.mul %x, %w : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %s = graph.reduce_sum %p {axes = array<i64: 0>, keepdims = 0 : si64} : (tensor<2x2xf32>) -> tensor<2xf32>
  %flat = graph.pack %w, %b {offsets = array<i64: 0, 4>} : (tensor<2xf32>, tensor<1xf32>) -> tensor<8xf32>
  %twice = graph.add %flat, %flat : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  graph.assign %flat, %twice : tensor<8xf32>, tensor<8xf32>
  %m = graph.add %n, %n : (tensor<i64>, tensor<i64>) -> tensor<i64>
  graph.assign %n, %m : tensor<i64>, tensor<i64>
  graph.output "s", %s : tensor<2xf32>
})";

TensorMap stepInputs(ParsedModule &m) {
  return {{"x", m.tensor({2, 2}, {1, 2, 3, 4})},
          {"w", m.tensor({2}, {10, 100})},
          {"b", m.tensor({1}, {0.5})}};
}

TEST(Interpreter, RunsProgram) {
  ParsedModule m(kStep);
  ASSERT_TRUE(m.module);
  auto result = Interpreter().run(m.first<graph::ProgramOp>(), stepInputs(m));
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->outputs.at("s").floats, (std::vector<double>{40, 600}));
  EXPECT_EQ(result->assigned.at("w").floats, (std::vector<double>{20, 200}));
  EXPECT_EQ(result->assigned.at("b").floats, (std::vector<double>{1}));
  EXPECT_EQ(result->assigned.at("count").ints, (std::vector<int64_t>{6}));
  EXPECT_TRUE(result->values.empty());
}

TEST(Interpreter, StateGivenBeatsInit) {
  ParsedModule m(kStep);
  auto inputs = stepInputs(m);
  inputs["count"] = m.tensor({}, {7}, IntegerType::get(&m.context, 64));
  auto result = Interpreter().run(m.first<graph::ProgramOp>(), inputs);
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->assigned.at("count").ints, (std::vector<int64_t>{14}));
}

TEST(Interpreter, RefusesMissingAndMisshapen) {
  ParsedModule m(kStep);
  std::string message;
  ScopedDiagnosticHandler handler(&m.context, [&](Diagnostic &d) {
    message = d.str();
    return success();
  });
  auto inputs = stepInputs(m);
  inputs["w"] = m.tensor({3}, {1, 2, 3});
  EXPECT_TRUE(failed(Interpreter().run(m.first<graph::ProgramOp>(), inputs)));
  EXPECT_NE(message.find("'w' is"), std::string::npos) << message;
  inputs.erase("w");
  EXPECT_TRUE(failed(Interpreter().run(m.first<graph::ProgramOp>(), inputs)));
  EXPECT_NE(message.find("no tensor given for parameter 'w'"),
            std::string::npos);
}

TEST(Interpreter, RoundsWhatIsStored) {
  ParsedModule m(R"(
graph.program @train {
  %x = graph.input "x" : tensor<1xf32>
  %y = graph.add %x, %x : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xbf16>
  graph.output "y", %y : tensor<1xbf16>
})");
  ASSERT_TRUE(m.module);
  Interpreter interpreter;
  TensorMap inputs{{"x", m.tensor({1}, {1.001})}};
  auto exact = interpreter.run(m.first<graph::ProgramOp>(), inputs);
  EXPECT_EQ(exact->outputs.at("y").floats[0], 2.002);
  interpreter.roundResults = true;
  auto rounded = interpreter.run(m.first<graph::ProgramOp>(), inputs);
  EXPECT_EQ(rounded->outputs.at("y").floats[0], 2);
}

constexpr const char *kProduct = R"(
graph.program @train {
  %x = graph.input "x" : tensor<2x3xf32>
  %w = graph.parameter "w" : tensor<3x2xf32>
  %b = graph.parameter "b" : tensor<2xf32>
  %p = graph.matmul %x, %w : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %q = graph.add %p, %b : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %y = graph.tanh %q : (tensor<2x2xf32>) -> tensor<2x2xf32>
  graph.output "y", %y : tensor<2x2xf32>
})";

TEST(GradientCheck, VjpOfEveryOpOfAProgram) {
  ParsedModule m(kProduct);
  ASSERT_TRUE(m.module);
  Interpreter interpreter;
  interpreter.keepValues = true;
  auto run =
      interpreter.run(m.first<graph::ProgramOp>(),
                      {{"x", m.tensor({2, 3}, {1, -2, .3, .4, .5, 6})},
                       {"w", m.tensor({3, 2}, {.1, .2, -.3, .4, .5, .6})},
                       {"b", m.tensor({2}, {-.25, .75})}});
  ASSERT_TRUE(succeeded(run));
  int checked = 0;
  m.module->walk([&](DifferentiableOpInterface op) {
    SmallVector<HostTensor> operands;
    for (Value v : op->getOperands())
      operands.push_back(run->values[v]);
    auto report = checkVjp(op, operands);
    ASSERT_TRUE(succeeded(report));
    EXPECT_TRUE(report->ok()) << report->describe();
    ++checked;
  });
  EXPECT_EQ(checked, 3);
}

TEST(GradientCheck, FindsAWrongGradient) {
  ParsedModule m(kProduct);
  TensorMap point{{"x", m.tensor({2, 3}, {1, -2, .3, .4, .5, 6})},
                  {"w", m.tensor({3, 2}, {0, 0, 0, 0, 0, 0})},
                  {"b", m.tensor({2}, {0, 0})}};
  // tanh'(0) = 1, twice per column.
  auto right = checkGradient(m.first<graph::ProgramOp>(), point, "y",
                             {{"b", m.tensor({2}, {2, 2})}});
  ASSERT_TRUE(succeeded(right));
  EXPECT_TRUE(right->ok()) << right->describe();
  auto wrong = checkGradient(m.first<graph::ProgramOp>(), point, "y",
                             {{"b", m.tensor({2}, {2, 2.001})}});
  ASSERT_TRUE(succeeded(wrong));
  EXPECT_FALSE(wrong->ok());
  EXPECT_EQ(wrong->worst[0].index, 1);
}

} // namespace
