// SPDX-License-Identifier: Apache-2.0
// Colours by the lists, by name, and of gradients: one small program a rule.
// Nodes are found by their location's name.
#include "compiler/exec/ExecOps.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/precision/Precision.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace halftone;
using namespace halftone::passes;

namespace {

/// A program whose ops are given as text, with x, y: tensor<4x4xf32> and w: a
/// parameter of that type.
class Program {
public:
  explicit Program(const std::string &body, const std::string &aliases = "")
      : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<graph::GraphDialect>();
    std::string text = "!t = tensor<4x4xf32>\n" + aliases + R"(
graph.program @train {
  %x = graph.input "x" : !t
  %y = graph.input "y" : !t
  %w = graph.parameter "w" : !t
)" + body + "\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    context.getDiagEngine().registerHandler([this](Diagnostic &d) {
      messages += d.str() + "\n";
      return success();
    });
  }

  graph::ProgramOp program() {
    return *module->getOps<graph::ProgramOp>().begin();
  }

  bool assign(Color precision, std::vector<ListEntry> lists = {},
              std::vector<ColorEntry> colors = {}) {
    return succeeded(assignPrecision(
        program(), {precision, std::move(lists), std::move(colors)}));
  }

  /// "color rule source path,path" of the op at that location.
  std::string decision(StringRef name) {
    std::string text = "?";
    program()->walk([&](Operation *op) {
      auto location = dyn_cast<NameLoc>(op->getLoc());
      if (!location || location.getName() != name || !op->hasAttr(kColor))
        return;
      text = get(op, kColor) + " " + get(op, kRule) + " " + get(op, kSource);
      for (auto [i, entry] : llvm::enumerate(
               op->getAttrOfType<ArrayAttr>(kPath).getAsRange<StringAttr>()))
        text += (i ? "," : " ") + entry.getValue().str();
      if (op->hasAttr(kWideResult))
        text += " wide";
    });
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string messages;

private:
  static std::string get(Operation *op, StringRef name) {
    return op->getAttrOfType<StringAttr>(name).getValue().str();
  }
};

/// `name = op(operands)` for ops of one result type, as text.
std::string op(const std::string &name, const std::string &mnemonic,
               const std::vector<std::string> &operands,
               const std::string &attributes = "",
               const std::string &result = "!t") {
  std::string list, types;
  for (const std::string &operand : operands) {
    list += (list.empty() ? "%" : ", %") + operand;
    types += types.empty() ? "!t" : ", !t";
  }
  return "  %" + name + " = graph." + mnemonic + " " + list + " " + attributes +
         " : (" + types + ") -> " + result + " loc(\"" + name + "\")\n";
}

std::string output(const std::string &name) {
  return "  graph.output \"" + name + "\", %" + name + " : !t\n";
}

TEST(ForwardColors, AllowInferDenyClear) {
  // mm1 > add > relu > mm2 > exp > mul > neg > mm3 > tanh > out
  Program p(op("mm1", "matmul", {"x", "w"}) + op("add", "add", {"mm1", "y"}) +
            op("relu", "relu", {"add"}) + op("mm2", "matmul", {"relu", "w"}) +
            op("exp", "exp", {"mm2"}) + op("mul", "mul", {"exp", "y"}) +
            op("neg", "neg", {"mul"}) + op("mm3", "matmul", {"neg", "w"}) +
            op("tanh", "tanh", {"mm3"}) + output("tanh"));
  ASSERT_TRUE(p.module);
  ASSERT_TRUE(p.assign(Color::Bf16));
  EXPECT_EQ(p.decision("mm1"), "bf16 allow default");
  EXPECT_EQ(p.decision("add"), "bf16 between-allow derived mm1,mm2");
  EXPECT_EQ(p.decision("relu"), "bf16 between-allow derived mm1,mm2");
  EXPECT_EQ(p.decision("exp"), "fp32 deny default");
  EXPECT_EQ(p.decision("mul"), "fp32 deny-upstream derived exp");
  // A trailing clear node is not denied: it joins the product behind it.
  EXPECT_EQ(p.decision("neg"), "bf16 joined derived mm3");
  EXPECT_EQ(p.decision("tanh"), "fp32 not-between-allow default");
}

TEST(ForwardColors, DenyFlowsThroughClearToInfer) {
  Program p(op("mm1", "matmul", {"x", "w"}) + op("exp", "exp", {"mm1"}) +
            op("neg", "neg", {"exp"}) + op("abs", "abs", {"neg"}) +
            op("mul", "mul", {"abs", "y"}) + op("mm2", "matmul", {"mul", "w"}) +
            output("mm2"));
  ASSERT_TRUE(p.assign(Color::Fp16));
  EXPECT_EQ(p.decision("neg"), "fp32 deny-upstream derived exp");
  EXPECT_EQ(p.decision("mul"), "fp32 deny-upstream derived exp,neg,abs");
  EXPECT_EQ(p.decision("mm2"), "fp16 allow default");
}

TEST(ForwardColors, NothingAllowedNothingLow) {
  Program p(op("add", "add", {"x", "y"}) + op("relu", "relu", {"add"}) +
            output("relu"));
  ASSERT_TRUE(p.assign(Color::Bf16));
  EXPECT_EQ(p.decision("add"), "fp32 not-between-allow default");
  EXPECT_EQ(p.decision("relu"), "fp32 no-low-neighbour default");
}

TEST(ForwardColors, AdditiveReductionsAreDeniedInFp16Only) {
  std::string body = op("mm1", "matmul", {"x", "w"}) +
                     op("mean", "reduce_mean", {"mm1"},
                        "{axes = array<i64: 1>}", "tensor<4x1xf32>") +
                     "  %sub = graph.sub %mm1, %mean : (!t, tensor<4x1xf32>) "
                     "-> !t loc(\"sub\")\n" +
                     op("mm2", "matmul", {"sub", "w"}) + output("mm2");
  Program low(body), half(body);
  ASSERT_TRUE(low.assign(Color::Bf16));
  EXPECT_EQ(low.decision("mean"), "bf16 between-allow derived mm1,mm2");
  ASSERT_TRUE(half.assign(Color::Fp16));
  EXPECT_EQ(half.decision("mean"), "fp32 deny default");
  EXPECT_EQ(half.decision("sub"), "fp32 deny-upstream derived mean");
}

TEST(ForwardColors, AllWide) {
  Program p(op("mm1", "matmul", {"x", "w"}) + op("add", "add", {"mm1", "y"}) +
            output("add"));
  ASSERT_TRUE(p.assign(Color::Fp32));
  EXPECT_EQ(p.decision("mm1"), "fp32 precision default");
  EXPECT_EQ(p.decision("add"), "fp32 precision default");
  Program t(op("mm1", "matmul", {"x", "w"}) + op("add", "add", {"mm1", "y"}) +
            output("add"));
  ASSERT_TRUE(t.assign(Color::Tf32));
  EXPECT_EQ(t.decision("mm1"), "tf32 allow default");
  EXPECT_EQ(t.decision("add"), "fp32 precision default");
}

TEST(ForwardColors, IntegersHaveNoColor) {
  Program p(op("mm1", "matmul", {"x", "w"}) +
            op("nan", "is_nan", {"mm1"}, "", "tensor<4x4xi1>") +
            "  %not = graph.not %nan : (tensor<4x4xi1>) -> tensor<4x4xi1> "
            "loc(\"not\")\n" +
            output("mm1"));
  ASSERT_TRUE(p.module);
  ASSERT_TRUE(p.assign(Color::Bf16));
  EXPECT_EQ(p.decision("nan"), "fp32 untouched default");
  Operation *last = nullptr;
  p.program()->walk([&](graph::NotOp op) { last = op; });
  EXPECT_EQ(last->getAttrOfType<StringAttr>(kColor).getValue(), "");
}

TEST(Overrides, ListsByAnySpelling) {
  std::string body = op("mm1", "matmul", {"x", "w"}) +
                     op("exp", "exp", {"mm1"}) +
                     op("mm2", "matmul", {"exp", "w"}) + output("mm2");
  Program p(body);
  ASSERT_TRUE(p.assign(Color::Bf16, {{"Exp", PrecisionClass::Infer}}));
  EXPECT_EQ(p.decision("exp"), "bf16 between-allow derived mm1,mm2");
  Program q(body);
  ASSERT_TRUE(q.assign(Color::Bf16, {{"MatMul", PrecisionClass::Deny}}));
  EXPECT_EQ(q.decision("mm1"), "fp32 deny user");
}

TEST(Overrides, Refused) {
  std::string body = op("mm1", "matmul", {"x", "w"}) + output("mm1");
  Program p(body);
  EXPECT_FALSE(p.assign(Color::Bf16,
                        {{"Exp", PrecisionClass::Infer},
                         {"exp", PrecisionClass::Deny},
                         {"Nope", PrecisionClass::Deny}},
                        {{"(", Color::Fp32}}));
  EXPECT_NE(p.messages.find("'exp' is on two lists: infer and deny"),
            std::string::npos)
      << p.messages;
  EXPECT_NE(p.messages.find("there is no operator 'Nope'"), std::string::npos)
      << p.messages;
  EXPECT_NE(p.messages.find("is no regular expression"), std::string::npos)
      << p.messages;
}

TEST(Overrides, ColorByNameOrNamespace) {
  std::string body =
      op("mm1", "matmul", {"x", "w"}) +
      op("add", "add", {"mm1", "y"}, "{namespace = \"model.layer1\"}") +
      op("mm2", "matmul", {"add", "w"}) + output("mm2");
  Program p(body);
  ASSERT_TRUE(p.assign(
      Color::Bf16, {},
      {*parseColorEntry("mm2=fp32"), *parseColorEntry("layer[1]$=fp16")}));
  EXPECT_EQ(p.decision("mm2"), "fp32 color user");
  EXPECT_EQ(p.decision("add"), "fp16 color user");
  EXPECT_EQ(p.decision("mm1"), "bf16 allow default");
  EXPECT_FALSE(parseColorEntry("mm2"));
  EXPECT_FALSE(parseColorEntry("a=b"));
  EXPECT_EQ(parseColorEntry("a=b=bf16")->pattern, "a=b");
}

TEST(Constants, MaskThatOverflowsKeepsItsConsumerWide) {
  // E20: scores + (-3.4e38) between products would store an infinity.
  std::string body = "  %mask = graph.constant dense<-3.40282347e+38> : !t\n" +
                     op("mm1", "matmul", {"x", "w"}) +
                     op("add", "add", {"mm1", "mask"}) +
                     op("mm2", "matmul", {"add", "w"}) + output("mm2");
  for (Color low : {Color::Fp16, Color::Bf16}) {
    Program p(body);
    ASSERT_TRUE(p.assign(low));
    EXPECT_EQ(p.decision("add"), "fp32 constant-range default");
  }
}

std::string backward(const std::string &of, PrecisionClass list,
                     const std::string &extra = "") {
  return "{origin = \"backward\", grad_of = \"" + of +
         "\", grad_of_class = " + std::to_string(static_cast<int>(list)) +
         " : i64" + extra + "}";
}

TEST(Gradients, FollowTheirNode) {
  // forward: mm1 > gelu-like tanh > mm2 > loss (exp stands for any denied op)
  std::string body =
      op("mm1", "matmul", {"x", "w"}) + op("tanh", "tanh", {"mm1"}) +
      op("mm2", "matmul", {"tanh", "w"}) +
      op("loss", "exp", {"mm2"}, "{origin = \"loss\"}") +
      op("dloss", "mul", {"loss", "y"},
         backward("loss", PrecisionClass::Deny)) +
      op("dx2", "matmul", {"dloss", "w"},
         backward("mm2", PrecisionClass::Allow)) +
      op("dw2", "matmul", {"tanh", "dloss"},
         backward("mm2", PrecisionClass::Allow)) +
      op("dtanh", "mul", {"dx2", "tanh"},
         backward("tanh", PrecisionClass::Infer)) +
      op("dexp", "exp", {"dtanh"}, backward("tanh", PrecisionClass::Infer)) +
      op("dx1", "matmul", {"dexp", "w"},
         backward("mm1", PrecisionClass::Allow)) +
      op("dx0", "matmul", {"dx1", "w"},
         backward("mm1", PrecisionClass::Allow)) +
      "  %flat = graph.pack %dw2, %dx0 {offsets = array<i64: 0, 16>, origin = "
      "\"optimizer\"} : (!t, !t) -> tensor<32xf32>\n" +
      "  graph.output \"flat\", %flat : tensor<32xf32>\n";
  Program p(body);
  ASSERT_TRUE(p.module);
  ASSERT_TRUE(p.assign(Color::Bf16));
  EXPECT_EQ(p.decision("loss"), "fp32 loss default");
  EXPECT_EQ(p.decision("dloss"), "fp32 loss default loss");
  EXPECT_EQ(p.decision("dx2"), "bf16 gradient derived mm2");
  EXPECT_EQ(p.decision("dw2"), "bf16 weight-gradient derived mm2 wide");
  EXPECT_EQ(p.decision("dtanh"), "bf16 gradient derived tanh");
  EXPECT_EQ(p.decision("dexp"), "fp32 deny default tanh");
  EXPECT_EQ(p.decision("dx1"), "bf16 gradient derived mm1");
}

TEST(Gradients, ReductionsDenyNobody) {
  // E30: the bias gradient of add sums dadd in FP32, dadd itself stays low.
  for (Color low : {Color::Fp16, Color::Bf16}) {
    std::string name = low == Color::Fp16 ? "fp16" : "bf16";
    std::string body =
        op("mm1", "matmul", {"x", "w"}) + op("add", "add", {"mm1", "y"}) +
        op("mm2", "matmul", {"add", "w"}) +
        op("dadd", "matmul", {"mm2", "w"},
           backward("mm2", PrecisionClass::Allow)) +
        op("dbias", "reduce_sum", {"dadd"},
           backward("add", PrecisionClass::Infer,
                    ", axes = array<i64: 0>, generated = \"reduction\""),
           "tensor<1x4xf32>") +
        op("dw1", "matmul", {"x", "dadd"},
           backward("mm1", PrecisionClass::Allow)) +
        "  %flat = graph.pack %dbias, %dw1 {offsets = array<i64: 0, 16>, "
        "origin = \"optimizer\"} : (tensor<1x4xf32>, !t) -> "
        "tensor<32xf32>\n  graph.output \"flat\", %flat : tensor<32xf32>\n";
    Program p(body);
    ASSERT_TRUE(p.module);
    ASSERT_TRUE(p.assign(low));
    EXPECT_EQ(p.decision("dbias"), "fp32 gradient-reduction default add");
    EXPECT_EQ(p.decision("dadd"), name + " gradient derived mm2");
    EXPECT_EQ(p.decision("dw1"), name + " weight-gradient derived mm1 wide");
  }
}

TEST(Gradients, PathToAParameterIsWide) {
  // A tied weight: two products, one of them transposed, summed into one
  // gradient.
  std::string body =
      op("mm1", "matmul", {"x", "w"}) + op("mm2", "matmul", {"mm1", "w"}) +
      op("dw2", "matmul", {"mm1", "mm2"},
         backward("mm2", PrecisionClass::Allow)) +
      op("dw1", "matmul", {"x", "mm2"},
         backward("mm1", PrecisionClass::Allow)) +
      op("turned", "transpose", {"dw1"},
         backward("mm1", PrecisionClass::Clear)) +
      op("sum", "add", {"dw2", "turned"},
         backward("mm1", PrecisionClass::Allow, ", generated = \"sum\"")) +
      "  %flat = graph.pack %sum {offsets = array<i64: 0>, origin = "
      "\"optimizer\"} : (!t) -> tensor<16xf32>\n" +
      "  graph.output \"flat\", %flat : tensor<16xf32>\n";
  Program p(body);
  ASSERT_TRUE(p.module);
  ASSERT_TRUE(p.assign(Color::Fp16));
  EXPECT_EQ(p.decision("sum"), "fp32 parameter-gradient default mm1");
  EXPECT_EQ(p.decision("turned"), "fp32 parameter-gradient default mm1");
  EXPECT_EQ(p.decision("dw1"), "fp16 weight-gradient derived mm1 wide");
  EXPECT_EQ(p.decision("dw2"), "fp16 weight-gradient derived mm2 wide");
}

TEST(Gradients, SumsAreLowWhereTheirReadersAre) {
  std::string body =
      op("mm1", "matmul", {"x", "w"}) + op("mm2", "matmul", {"mm1", "w"}) +
      op("da", "matmul", {"mm2", "w"}, backward("mm2", PrecisionClass::Allow)) +
      op("db", "matmul", {"mm2", "x"}, backward("mm2", PrecisionClass::Allow)) +
      op("sum", "add", {"da", "db"},
         backward("mm2", PrecisionClass::Allow, ", generated = \"sum\"")) +
      op("wide", "add", {"sum", "da"},
         backward("mm2", PrecisionClass::Allow, ", generated = \"sum\"")) +
      op("dexp", "exp", {"wide"}, backward("mm1", PrecisionClass::Allow)) +
      op("dx", "matmul", {"sum", "dexp"},
         backward("mm1", PrecisionClass::Allow)) +
      output("dx");
  Program p(body);
  ASSERT_TRUE(p.module);
  ASSERT_TRUE(p.assign(Color::Bf16));
  EXPECT_EQ(p.decision("wide"), "fp32 gradient-sum derived mm2");
  // A wide reader makes the sum wide.
  EXPECT_EQ(p.decision("sum"), "fp32 gradient-sum derived mm2");
}

TEST(Gradients, OpsWithoutAnOriginBelongToWhatTheyRead) {
  // Canonicalization made the reshape out of two: it carries no attributes.
  std::string body =
      op("mm1", "matmul", {"x", "w"}) + op("add", "add", {"mm1", "y"}) +
      op("mm2", "matmul", {"add", "w"}) +
      op("dadd", "matmul", {"mm2", "w"},
         backward("mm2", PrecisionClass::Allow)) +
      op("dbias", "reduce_sum", {"dadd"},
         backward("add", PrecisionClass::Infer,
                  ", axes = array<i64: 0>, generated = \"reduction\""),
         "tensor<1x4xf32>") +
      "  %flat = graph.reshape %dbias {shape = array<i64: 4>} : "
      "(tensor<1x4xf32>) -> tensor<4xf32> loc(\"flat\")\n  graph.output "
      "\"flat\", %flat : tensor<4xf32>\n";
  Program p(body);
  ASSERT_TRUE(p.module);
  ASSERT_TRUE(p.assign(Color::Bf16));
  EXPECT_EQ(p.decision("flat"), "fp32 gradient-reduction default add");
}

TEST(Optimizer, IsWide) {
  Program p(op("mm1", "matmul", {"x", "w"}) +
            op("update", "mul", {"mm1", "y"}, "{origin = \"optimizer\"}") +
            output("update"));
  ASSERT_TRUE(p.assign(Color::Bf16, {}, {{"update", Color::Bf16}}));
  EXPECT_EQ(p.decision("update"), "fp32 optimizer default");
}

} // namespace
