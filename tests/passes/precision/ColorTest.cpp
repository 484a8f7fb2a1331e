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
  explicit Program(const std::string &body)
      : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<graph::GraphDialect>();
    std::string text = R"(!t = tensor<4x4xf32>
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

/// An op of one operand that is named like its kind.
std::string op(const std::string &name, const std::string &operand) {
  return op(name, name, {operand});
}

/// A product with the parameter.
std::string product(const std::string &name, const std::string &operand) {
  return op(name, "matmul", {operand, "w"});
}

std::string output(const std::string &name, const std::string &type = "!t") {
  return "  graph.output \"" + name + "\", %" + name + " : " + type + "\n";
}

/// Attributes of an op that belongs to the gradient of `of`, on list `list`.
std::string backward(const std::string &of, PrecisionClass list,
                     const std::string &extra = "") {
  return "{origin = \"backward\", grad_of = \"" + of +
         "\", grad_of_class = " + std::to_string(static_cast<int>(list)) +
         " : i64" + extra + "}";
}

/// A product in the gradient of a product.
std::string backwardProduct(const std::string &name, const std::string &of,
                            const std::vector<std::string> &operands) {
  return op(name, "matmul", operands, backward(of, PrecisionClass::Allow));
}

/// A sum of two gradients.
std::string backwardSum(const std::string &name, const std::string &of,
                        const std::vector<std::string> &operands) {
  return op(name, "add", operands,
            backward(of, PrecisionClass::Allow, ", generated = \"sum\""));
}

/// The gradient of a bias that was added to 4 rows.
std::string biasGradient(const std::string &name, const std::string &of,
                         const std::string &operand) {
  return op(name, "reduce_sum", {operand},
            backward(of, PrecisionClass::Infer,
                     ", axes = array<i64: 0>, generated = \"reduction\""),
            "tensor<1x4xf32>");
}

/// What the optimizer makes of gradients; `values` as operands with types.
std::string packed(const std::string &values, const std::string &types,
                   const std::string &offsets) {
  return "  %flat = graph.pack " + values +
         " {offsets = array<i64: " + offsets +
         ">, origin = \"optimizer\"} : (" + types + ") -> tensor<32xf32>\n" +
         output("flat", "tensor<32xf32>");
}

using Decisions = std::vector<std::pair<std::string, std::string>>;

/// Colours the program and compares what decisions it names.
void expectDecisions(const std::string &body, Color precision,
                     const Decisions &expected,
                     std::vector<ListEntry> lists = {},
                     std::vector<ColorEntry> colors = {}) {
  Program p(body);
  ASSERT_TRUE(p.module) << body;
  ASSERT_TRUE(p.assign(precision, std::move(lists), std::move(colors)))
      << p.messages;
  for (const auto &[name, decision] : expected)
    EXPECT_EQ(p.decision(name), decision) << name;
}

TEST(ForwardColors, AllowInferDenyClear) {
  // mm1 > add > relu > mm2 > exp > mul > neg > mm3 > tanh > out
  expectDecisions(product("mm1", "x") + op("add", "add", {"mm1", "y"}) +
                      op("relu", "add") + product("mm2", "relu") +
                      op("exp", "mm2") + op("mul", "mul", {"exp", "y"}) +
                      op("neg", "mul") + product("mm3", "neg") +
                      op("tanh", "mm3") + output("tanh"),
                  Color::Bf16,
                  {{"mm1", "bf16 allow default"},
                   {"add", "bf16 between-allow derived mm1,mm2"},
                   {"relu", "bf16 between-allow derived mm1,mm2"},
                   {"exp", "fp32 deny default"},
                   {"mul", "fp32 deny-upstream derived exp"},
                   // A trailing clear node is not denied: it joins the product
                   // behind it.
                   {"neg", "bf16 joined derived mm3"},
                   {"tanh", "fp32 not-between-allow default"}});
}

TEST(ForwardColors, DenyFlowsThroughClearToInfer) {
  expectDecisions(product("mm1", "x") + op("exp", "mm1") + op("neg", "exp") +
                      op("abs", "neg") + op("mul", "mul", {"abs", "y"}) +
                      product("mm2", "mul") + output("mm2"),
                  Color::Fp16,
                  {{"neg", "fp32 deny-upstream derived exp"},
                   {"mul", "fp32 deny-upstream derived exp,neg,abs"},
                   {"mm2", "fp16 allow default"}});
}

TEST(ForwardColors, NothingAllowedNothingLow) {
  expectDecisions(op("add", "add", {"x", "y"}) + op("relu", "add") +
                      output("relu"),
                  Color::Bf16,
                  {{"add", "fp32 not-between-allow default"},
                   {"relu", "fp32 no-low-neighbour default"}});
}

TEST(ForwardColors, AdditiveReductionsAreDeniedInFp16Only) {
  std::string body = product("mm1", "x") +
                     op("mean", "reduce_mean", {"mm1"},
                        "{axes = array<i64: 1>}", "tensor<4x1xf32>") +
                     "  %sub = graph.sub %mm1, %mean : (!t, tensor<4x1xf32>) "
                     "-> !t loc(\"sub\")\n" +
                     product("mm2", "sub") + output("mm2");
  expectDecisions(body, Color::Bf16,
                  {{"mean", "bf16 between-allow derived mm1,mm2"}});
  expectDecisions(body, Color::Fp16,
                  {{"mean", "fp32 deny default"},
                   {"sub", "fp32 deny-upstream derived mean"}});
}

TEST(ForwardColors, AllWide) {
  std::string body =
      product("mm1", "x") + op("add", "add", {"mm1", "y"}) + output("add");
  expectDecisions(
      body, Color::Fp32,
      {{"mm1", "fp32 precision default"}, {"add", "fp32 precision default"}});
  expectDecisions(
      body, Color::Tf32,
      {{"mm1", "tf32 allow default"}, {"add", "fp32 precision default"}});
}

TEST(ForwardColors, IntegersHaveNoColor) {
  Program p(product("mm1", "x") +
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
  std::string body = product("mm1", "x") + op("exp", "mm1") +
                     product("mm2", "exp") + output("mm2");
  expectDecisions(body, Color::Bf16,
                  {{"exp", "bf16 between-allow derived mm1,mm2"}},
                  {{"Exp", PrecisionClass::Infer}});
  expectDecisions(body, Color::Bf16, {{"mm1", "fp32 deny user"}},
                  {{"MatMul", PrecisionClass::Deny}});
}

TEST(Overrides, Refused) {
  Program p(product("mm1", "x") + output("mm1"));
  EXPECT_FALSE(p.assign(Color::Bf16,
                        {{"Exp", PrecisionClass::Infer},
                         {"exp", PrecisionClass::Deny},
                         {"Nope", PrecisionClass::Deny}},
                        {{"(", Color::Fp32}}));
  for (const char *message :
       {"'exp' is on two lists: infer and deny", "there is no operator 'Nope'",
        "is no regular expression"})
    EXPECT_NE(p.messages.find(message), std::string::npos)
        << message << " in " << p.messages;
}

TEST(Overrides, ColorByNameOrNamespace) {
  expectDecisions(
      product("mm1", "x") +
          op("add", "add", {"mm1", "y"}, "{namespace = \"model.layer1\"}") +
          product("mm2", "add") + output("mm2"),
      Color::Bf16,
      {{"mm2", "fp32 color user"},
       {"add", "fp16 color user"},
       {"mm1", "bf16 allow default"}},
      {}, {*parseColorEntry("mm2=fp32"), *parseColorEntry("layer[1]$=fp16")});
  EXPECT_FALSE(parseColorEntry("mm2"));
  EXPECT_FALSE(parseColorEntry("a=b"));
  EXPECT_EQ(parseColorEntry("a=b=bf16")->pattern, "a=b");
}

TEST(Constants, MaskThatOverflowsKeepsItsConsumerWide) {
  // E20: scores + (-3.4e38) between products would store an infinity.
  for (Color low : {Color::Fp16, Color::Bf16})
    expectDecisions("  %mask = graph.constant dense<-3.40282347e+38> : !t\n" +
                        product("mm1", "x") +
                        op("add", "add", {"mm1", "mask"}) +
                        product("mm2", "add") + output("mm2"),
                    low, {{"add", "fp32 constant-range default"}});
}

TEST(Gradients, FollowTheirNode) {
  // forward: mm1 > gelu-like tanh > mm2 > loss (exp stands for any denied op)
  expectDecisions(product("mm1", "x") + op("tanh", "mm1") +
                      product("mm2", "tanh") +
                      op("loss", "exp", {"mm2"}, "{origin = \"loss\"}") +
                      op("dloss", "mul", {"loss", "y"},
                         backward("loss", PrecisionClass::Deny)) +
                      backwardProduct("dx2", "mm2", {"dloss", "w"}) +
                      backwardProduct("dw2", "mm2", {"tanh", "dloss"}) +
                      op("dtanh", "mul", {"dx2", "tanh"},
                         backward("tanh", PrecisionClass::Infer)) +
                      op("dexp", "exp", {"dtanh"},
                         backward("tanh", PrecisionClass::Infer)) +
                      backwardProduct("dx1", "mm1", {"dexp", "w"}) +
                      backwardProduct("dx0", "mm1", {"dx1", "w"}) +
                      packed("%dw2, %dx0", "!t, !t", "0, 16"),
                  Color::Bf16,
                  {{"loss", "fp32 loss default"},
                   {"dloss", "fp32 loss default loss"},
                   {"dx2", "bf16 gradient derived mm2"},
                   {"dw2", "bf16 weight-gradient derived mm2 wide"},
                   {"dtanh", "bf16 gradient derived tanh"},
                   {"dexp", "fp32 deny default tanh"},
                   {"dx1", "bf16 gradient derived mm1"}});
}

TEST(Gradients, ReductionsDenyNobody) {
  // E30: the bias gradient of add sums dadd in FP32, dadd itself stays low.
  for (Color low : {Color::Fp16, Color::Bf16}) {
    std::string name = low == Color::Fp16 ? "fp16" : "bf16";
    expectDecisions(product("mm1", "x") + op("add", "add", {"mm1", "y"}) +
                        product("mm2", "add") +
                        backwardProduct("dadd", "mm2", {"mm2", "w"}) +
                        biasGradient("dbias", "add", "dadd") +
                        backwardProduct("dw1", "mm1", {"x", "dadd"}) +
                        packed("%dbias, %dw1", "tensor<1x4xf32>, !t", "0, 16"),
                    low,
                    {{"dbias", "fp32 gradient-reduction default add"},
                     {"dadd", name + " gradient derived mm2"},
                     {"dw1", name + " weight-gradient derived mm1 wide"}});
  }
}

TEST(Gradients, PathToAParameterIsWide) {
  // A tied weight: two products, one of them transposed, summed into one
  // gradient.
  expectDecisions(product("mm1", "x") + product("mm2", "mm1") +
                      backwardProduct("dw2", "mm2", {"mm1", "mm2"}) +
                      backwardProduct("dw1", "mm1", {"x", "mm2"}) +
                      op("turned", "transpose", {"dw1"},
                         backward("mm1", PrecisionClass::Clear)) +
                      backwardSum("sum", "mm1", {"dw2", "turned"}) +
                      packed("%sum", "!t", "0"),
                  Color::Fp16,
                  {{"sum", "fp32 parameter-gradient default mm1"},
                   {"turned", "fp32 parameter-gradient default mm1"},
                   {"dw1", "fp16 weight-gradient derived mm1 wide"},
                   {"dw2", "fp16 weight-gradient derived mm2 wide"}});
}

TEST(Gradients, SumsAreLowWhereTheirReadersAre) {
  expectDecisions(
      product("mm1", "x") + product("mm2", "mm1") +
          backwardProduct("da", "mm2", {"mm2", "w"}) +
          backwardProduct("db", "mm2", {"mm2", "x"}) +
          backwardSum("sum", "mm2", {"da", "db"}) +
          backwardSum("wide", "mm2", {"sum", "da"}) +
          op("dexp", "exp", {"wide"}, backward("mm1", PrecisionClass::Allow)) +
          backwardProduct("dx", "mm1", {"sum", "dexp"}) + output("dx"),
      Color::Bf16,
      {{"wide", "fp32 gradient-sum derived mm2"},
       // A wide reader makes the sum wide.
       {"sum", "fp32 gradient-sum derived mm2"}});
}

TEST(Gradients, OpsWithoutAnOriginBelongToWhatTheyRead) {
  // Canonicalization made the reshape out of two: it carries no attributes.
  expectDecisions(
      product("mm1", "x") + op("add", "add", {"mm1", "y"}) +
          product("mm2", "add") + backwardProduct("dadd", "mm2", {"mm2", "w"}) +
          biasGradient("dbias", "add", "dadd") +
          "  %flat = graph.reshape %dbias {shape = array<i64: 4>} "
          ": (tensor<1x4xf32>) -> tensor<4xf32> loc(\"flat\")\n" +
          output("flat", "tensor<4xf32>"),
      Color::Bf16, {{"flat", "fp32 gradient-reduction default add"}});
}

TEST(Optimizer, IsWide) {
  expectDecisions(
      product("mm1", "x") +
          op("update", "mul", {"mm1", "y"}, "{origin = \"optimizer\"}") +
          output("update"),
      Color::Bf16, {{"update", "fp32 optimizer default"}}, {},
      {{"update", Color::Bf16}});
}

} // namespace
