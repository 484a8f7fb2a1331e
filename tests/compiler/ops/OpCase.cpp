// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/ops/OpCase.h"
#include "compiler/exec/ExecOps.h"
#include "compiler/graph/BuildByName.h"
#include "compiler/reference/Interpreter.h"
#include "mlir/AsmParser/AsmParser.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;

namespace halftone::test {
namespace {

Type elementOf(MLIRContext *context, char kind) {
  if (kind == 'f')
    return Float32Type::get(context);
  return IntegerType::get(context, kind == 'b' ? 1 : 64);
}

/// Steps of the golden ratio through the range: no two equal, no two far from
/// even.
void fill(HostTensor &tensor, const Operand &operand, unsigned seed) {
  double place = 0.137 * (seed + 1);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    place = std::fmod(place + 0.6180339887498949, 1.0);
    if (operand.kind == 'f')
      tensor.set(i, operand.low + place * (operand.high - operand.low));
    else if (operand.kind == 'b')
      tensor.set(i, static_cast<int64_t>(place < 0.6));
    else
      tensor.set(i, static_cast<int64_t>(
                        operand.low +
                        std::floor(place * (operand.high - operand.low + 1))));
  }
}

std::string describe(const OpCase &row) {
  std::string text = std::string(row.name) + " {" + row.attributes + "}";
  for (const Operand &operand : row.operands) {
    text += operand.kind == '-' ? " -" : " [";
    for (int64_t extent : operand.shape)
      text += std::to_string(extent) + " ";
    text += operand.kind == '-' ? "" : "]";
  }
  return text;
}

} // namespace

BuiltOp::BuiltOp(const OpCase &row)
    : context(MLIRContext::Threading::DISABLED), row(row) {
  context.loadDialect<graph::GraphDialect, exec::ExecDialect>();
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &d) { message += d.str() + "\n"; });
  Location loc = UnknownLoc::get(&context);
  module = ModuleOp::create(loc);
  auto b = ImplicitLocOpBuilder::atBlockEnd(loc, module->getBody());
  program = b.create<graph::ProgramOp>("test");
  b.setInsertionPointToEnd(&program.getBody().front());
  SmallVector<SmallVector<Value>> groups;
  for (const Operand &operand : row.operands) {
    groups.emplace_back();
    if (operand.kind == '-')
      continue;
    auto type =
        RankedTensorType::get(operand.shape, elementOf(&context, operand.kind));
    groups.back().push_back(b.create<graph::InputOp>(
        type, b.getStringAttr("x" + std::to_string(operands.size())),
        b.getStringAttr("data")));
    operands.emplace_back(type);
    fill(operands.back(), operand, static_cast<unsigned>(operands.size()));
  }
  auto attributes = dyn_cast_or_null<DictionaryAttr>(
      parseAttribute("{" + std::string(row.attributes) + "}", &context));
  if (!attributes)
    return;
  auto built =
      graph::buildByName(b, loc, row.name, groups, attributes.getValue());
  op = succeeded(built) ? *built : nullptr;
}

void BuiltOp::set(unsigned operand, std::vector<double> values) {
  ASSERT_EQ(static_cast<int64_t>(values.size()), operands[operand].size());
  for (size_t i = 0; i < values.size(); ++i)
    operands[operand].set(static_cast<int64_t>(i), values[i]);
}

std::vector<HostTensor> BuiltOp::evaluate(ValueRange values) {
  reference::TensorMap named;
  for (auto [i, operand] : llvm::enumerate(operands))
    named["x" + std::to_string(i)] = operand;
  auto b = ImplicitLocOpBuilder::atBlockEnd(op->getLoc(), op->getBlock());
  for (auto [i, value] : llvm::enumerate(values))
    b.create<graph::OutputOp>("y" + std::to_string(i), value);
  auto result = reference::Interpreter().run(program, named);
  std::vector<HostTensor> tensors;
  for (size_t i = 0; succeeded(result) && i < values.size(); ++i)
    tensors.push_back(result->outputs.at("y" + std::to_string(i)));
  for (auto output :
       llvm::make_early_inc_range(program.getBody().getOps<graph::OutputOp>()))
    output.erase();
  return tensors;
}

std::vector<HostTensor> BuiltOp::evaluate() {
  return evaluate(op->getResults());
}

std::vector<HostTensor> BuiltOp::evaluateDecomposed() {
  ImplicitLocOpBuilder b(op->getLoc(), &context);
  b.setInsertionPointAfter(op);
  SmallVector<Value> values = cast<DecomposableOpInterface>(op).decompose(b);
  EXPECT_EQ(values.size(), op->getNumResults());
  for (auto [value, result] : llvm::zip(values, op->getResults()))
    EXPECT_EQ(value.getType(), result.getType());
  return evaluate(values);
}

FailureOr<reference::GradientReport> BuiltOp::checkGradient() {
  reference::GradientCheckOptions options;
  options.ignoredOperands = row.ignoredOperands;
  options.ignoredResults = row.ignoredResults;
  return reference::checkVjp(op, operands, options);
}

std::vector<HostTensor> BuiltOp::gradients(std::vector<double> dy) {
  HostTensor seed(cast<RankedTensorType>(op->getResult(0).getType()));
  seed.floats = std::move(dy);
  ImplicitLocOpBuilder b(op->getLoc(), &context);
  b.setInsertionPointAfter(op);
  SmallVector<Value> grads(op->getNumResults());
  grads[0] = b.create<graph::ConstantOp>(seed.getType(), seed.toAttr());
  SmallVector<Value> built =
      cast<DifferentiableOpInterface>(op).buildVjp(b, grads);
  SmallVector<Value> flowing;
  llvm::copy_if(built, std::back_inserter(flowing),
                [](Value v) { return static_cast<bool>(v); });
  std::vector<HostTensor> values = evaluate(flowing), result;
  auto next = values.begin();
  for (Value v : built)
    result.push_back(v ? *next++ : HostTensor());
  return result;
}

std::vector<double> simple(int64_t count, int64_t shift) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<double>((7 * i + 3 * shift) % 11 - 5) / 4);
  return numbers;
}

std::vector<double> resultOf(const OpCase &row,
                             const std::vector<std::vector<double>> &values,
                             unsigned i) {
  BuiltOp built(row);
  EXPECT_TRUE(built.op) << built.message;
  if (!built.op)
    return {};
  for (auto [k, operand] : llvm::enumerate(values))
    built.set(static_cast<unsigned>(k), operand);
  auto results = built.evaluate();
  std::vector<double> numbers;
  for (int64_t k = 0; i < results.size() && k < results[i].size(); ++k)
    numbers.push_back(results[i].asDouble(k));
  return numbers;
}

void expectNear(ArrayRef<double> actual, ArrayRef<double> expected,
                double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i]) || std::isinf(expected[i])) {
      EXPECT_TRUE(actual[i] == expected[i] ||
                  (std::isnan(actual[i]) && std::isnan(expected[i])))
          << "at " << i << ": " << actual[i];
      continue;
    }
    EXPECT_NEAR(actual[i], expected[i],
                tolerance * std::max(1.0, std::abs(expected[i])))
        << "at " << i;
  }
}

void checkRows(ArrayRef<OpCase> rows) {
  for (const OpCase &row : rows) {
    SCOPED_TRACE(describe(row));
    BuiltOp built(row);
    ASSERT_TRUE(built.op) << built.message;
    auto values = built.evaluate();
    ASSERT_EQ(values.size(), built.op->getNumResults());
    bool anyFloat = llvm::any_of(
        values, [](const HostTensor &value) { return value.isFloat(); });
    if (anyFloat && isa<DifferentiableOpInterface>(built.op)) {
      auto report = built.checkGradient();
      ASSERT_TRUE(succeeded(report));
      EXPECT_TRUE(report->ok()) << report->describe();
    }
    if (!isa<DecomposableOpInterface>(built.op))
      continue;
    auto decomposed = built.evaluateDecomposed();
    ASSERT_EQ(values.size(), decomposed.size());
    for (auto [value, other] : llvm::zip_equal(values, decomposed))
      expectNear(other.floats, value.floats);
  }
}

void checkRefusals(ArrayRef<Refusal> rows) {
  for (const Refusal &refusal : rows) {
    SCOPED_TRACE(describe(refusal.row));
    BuiltOp built(refusal.row);
    EXPECT_FALSE(built.op);
    EXPECT_NE(built.message.find(refusal.message), std::string::npos)
        << built.message;
  }
}

} // namespace halftone::test
