// SPDX-License-Identifier: Apache-2.0
// What casts may not change: an FP32 plan, values within rounding, finite
// masks; and the report.
#include "compiler/graph/GraphOps.h"
#include "compiler/reference/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/precision/Precision.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace halftone;
using namespace halftone::passes;

namespace {

constexpr const char *kAttention = R"(
graph.program @train {
  %x = graph.input "x" : tensor<4x4xf32>
  %w = graph.parameter "w" : tensor<4x4xf32>
  %keep = graph.input "keep" : tensor<4x4xi1>
  %lowest = graph.constant dense<-3.40282347e+38> : tensor<f32>
  %a = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = graph.where %keep, %a, %lowest : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %s = graph.softmax %m : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = graph.matmul %s, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  graph.output "b", %b : tensor<4x4xf32>
})";

struct Case {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;

  explicit Case(const std::string &text) {
    context.loadDialect<graph::GraphDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
  }
  graph::ProgramOp program() {
    return *module->getOps<graph::ProgramOp>().begin();
  }
  bool color(Color precision, std::vector<ListEntry> lists = {}) {
    PrecisionOptions options{precision, std::move(lists), {}};
    return succeeded(assignPrecision(program(), options)) &&
           succeeded(insertCasts(program(), options)) &&
           succeeded(module->verify());
  }
  std::string textWithoutColors() {
    OwningOpRef<ModuleOp> copy = module->clone();
    copy->walk([](Operation *op) {
      for (StringRef name : {kColor, kRule, kSource, kPath})
        op->removeAttr(name);
      op->removeAttr("origin");
    });
    std::string text;
    llvm::raw_string_ostream(text) << *copy;
    return text;
  }
  HostTensor tensor(Type type, function_ref<double(int64_t)> value) {
    HostTensor t(RankedTensorType::get({4, 4}, type));
    for (int64_t i = 0; i < t.size(); ++i)
      t.set(i, value(i));
    return t;
  }
  std::vector<double> run() {
    Builder b(&context);
    reference::Interpreter interpreter;
    interpreter.roundResults = true;
    // The first row is masked altogether.
    auto result = interpreter.run(
        program(),
        {{"x",
          tensor(b.getF32Type(),
                 [](int64_t i) { return 0.1 * static_cast<double>(i) - 0.7; })},
         {"w", tensor(b.getF32Type(), [](int64_t i) { return i % 3 - 0.9; })},
         {"keep",
          tensor(b.getI1Type(), [](int64_t i) { return i > 3 && i % 3; })}});
    return succeeded(result) ? result->outputs.at("b").floats
                             : std::vector<double>();
  }
};

TEST(Casts, WidePlanIsTheGraphItself) { // E27
  Case c(kAttention);
  std::string before = c.textWithoutColors();
  for (Color precision : {Color::Fp32, Color::Tf32}) {
    ASSERT_TRUE(c.color(precision));
    EXPECT_EQ(c.textWithoutColors(), before);
  }
}

TEST(Casts, EveryNodeDeniedIsWideToo) { // E27
  Case c(kAttention);
  std::string before = c.textWithoutColors();
  ASSERT_TRUE(c.color(Color::Fp16, {{"MatMul", PrecisionClass::Deny}}));
  EXPECT_EQ(c.textWithoutColors(), before);
}

TEST(Casts, ValuesStayWithinRounding) {
  std::vector<double> exact = Case(kAttention).run();
  ASSERT_EQ(exact.size(), 16u);
  for (auto [precision, bound] :
       {std::pair(Color::Bf16, 0x1p-6), {Color::Fp16, 0x1p-9}}) {
    Case c(kAttention);
    ASSERT_TRUE(c.color(precision));
    std::vector<double> low = c.run();
    ASSERT_EQ(low.size(), 16u);
    // Also the masked row (E20): uniform weights, no NaN.
    for (size_t i = 0; i < 16; ++i)
      EXPECT_NEAR(low[i], exact[i], bound) << i;
  }
}

TEST(Casts, MaskAsATableStaysFinite) { // E20
  std::string text = kAttention;
  text.replace(text.find("graph.where %keep, %a, %lowest"), 30,
               "graph.max %a, %lowest");
  text.replace(text.find("tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) ->"),
               16, "");
  for (Color precision : {Color::Fp16, Color::Bf16}) {
    Case c(text);
    ASSERT_TRUE(c.module);
    ASSERT_TRUE(c.color(precision));
    for (auto constant : c.program().getBody().getOps<graph::ConstantOp>()) {
      auto value = HostTensor::fromAttr(constant.getValue());
      EXPECT_TRUE(
          std::isfinite(roundTo(value->floats[0], value->getElementType())));
    }
  }
}

TEST(Report, CountsCastsAndFlops) {
  Case c(kAttention);
  ASSERT_TRUE(c.color(Color::Bf16));
  PrecisionReport report = reportPrecision(c.program());
  EXPECT_EQ(report.lowShare(), 1);
  EXPECT_EQ(report.productFlops, 2 * 2 * 64);
  // x, w, the scores up to f32, the result up to f32; softmax stores bf16
  // itself.
  EXPECT_EQ(report.casts, 4);
  Case wide(kAttention);
  ASSERT_TRUE(wide.color(Color::Bf16, {{"MatMul", PrecisionClass::Deny}}));
  EXPECT_EQ(reportPrecision(wide.program()).lowShare(), 0);
}

TEST(Report, NoticesADenyListThatMakesManyCasts) { // E30
  std::string text =
      "graph.program @train {\n  %x = graph.input \"x\" : tensor<4x4xf32>\n  "
      "%a0 = graph.matmul %x, %x : (tensor<4x4xf32>, "
      "tensor<4x4xf32>) -> tensor<4x4xf32>\n";
  int last = 0;
  for (int i = 0; i < 12; ++i) {
    std::string relu = "%r" + std::to_string(i),
                from = "%a" + std::to_string(last),
                to = "%a" + std::to_string(++last);
    text += relu + " = graph.relu " + from +
            " : (tensor<4x4xf32>) -> tensor<4x4xf32>\n";
    text += to + " = graph.matmul " + relu +
            ", %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>\n";
  }
  text += "graph.output \"y\", %a12 : tensor<4x4xf32>\n}";
  Case c(text), denied(text);
  ASSERT_TRUE(c.color(Color::Bf16));
  EXPECT_TRUE(reportPrecision(c.program()).notices.empty());
  ASSERT_TRUE(denied.color(Color::Bf16, {{"Relu", PrecisionClass::Deny}}));
  auto notices = reportPrecision(denied.program()).notices;
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("relu makes 12 of 14 casts"), std::string::npos)
      << notices[0];
}

} // namespace
