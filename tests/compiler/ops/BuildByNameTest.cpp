// SPDX-License-Identifier: Apache-2.0
// Operators built from whatever operands there are: an op or a diagnostic.
#include "compiler/graph/BuildByName.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <gtest/gtest.h>

using namespace mlir;
namespace graph = halftone::graph;

namespace {

class BuildByName : public testing::Test {
protected:
  BuildByName() : context(MLIRContext::Threading::DISABLED), b(&context) {
    context.loadDialect<graph::GraphDialect>();
    module = ModuleOp::create(b.getUnknownLoc());
    b.setInsertionPointToEnd(module->getBody());
    auto program = b.create<graph::ProgramOp>(b.getUnknownLoc(), "main");
    b.setInsertionPointToEnd(&program.getBody().front());
  }

  Value input(ArrayRef<int64_t> shape, Type element) {
    return b.create<graph::InputOp>(
        b.getUnknownLoc(), RankedTensorType::get(shape, element), "x", "data");
  }

  /// What is wrong; empty where an op is built.
  std::string complaint(StringRef name, ArrayRef<SmallVector<Value>> operands) {
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      text += diagnostic.str() + "\n";
      return success();
    });
    auto built = graph::buildByName(b, b.getUnknownLoc(), name, operands, {});
    EXPECT_EQ(succeeded(built), text.empty()) << name.str() << ": " << text;
    return text;
  }

  MLIRContext context;
  OpBuilder b;
  OwningOpRef<ModuleOp> module;
};

TEST_F(BuildByName, MissingOperandsAreNamed) {
  Value x = input({2, 2}, b.getF32Type());
  EXPECT_EQ(complaint("relu", {}), "'relu' needs one operand, has 0\n");
  EXPECT_EQ(complaint("relu", {{}}),
            "'relu' needs one value as operand 0, has 0\n");
  EXPECT_EQ(complaint("add", {{x}}), "'add' needs 2 operands, has 1\n");
  EXPECT_EQ(complaint("add", {{}, {x}}),
            "'add' needs one value as operand 0, has 0\n");
  EXPECT_EQ(complaint("add", {{x}, {x}, {x}}),
            "'add' needs 2 operands, has 3\n");
  EXPECT_EQ(complaint("gemm", {{x}}),
            "'gemm' needs at least 2 operands, has 1\n");
  EXPECT_EQ(complaint("sum", {}), "'sum' needs at least one operand, has 0\n");
  EXPECT_EQ(complaint("sum", {{x, x, x}}), "");
  EXPECT_EQ(complaint("gemm", {{x}, {x}, {}}), "");
  EXPECT_NE(complaint("attention", {{x}, {}, {x}, {}, {}, {}, {}}), "");
  EXPECT_NE(complaint("attention", {{x}}), "");
}

TEST_F(BuildByName, MissingAttributesAreNamed) {
  Value x = input({2, 2}, b.getF32Type());
  EXPECT_EQ(complaint("concat", {{x, x}}),
            "'graph.concat' op requires attribute 'axis'\n");
}

// Every operator, with up to six operands of a few types, one of them missing.
TEST_F(BuildByName, NothingCrashes) {
  SmallVector<Value> values{
      input({2, 2}, b.getF32Type()), input({}, b.getF32Type()),
      input({2}, b.getI64Type()), input({1, 2, 3, 4}, b.getF32Type()),
      input({2, 2}, b.getI1Type())};
  int built = 0, refused = 0;
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    if (op.getDialectNamespace() != "graph" ||
        !op.hasInterface<InferTypeOpInterface>())
      continue;
    for (Value value : values)
      for (size_t count = 0; count <= 7; ++count)
        for (size_t missing = 0; missing <= count; ++missing) {
          SmallVector<SmallVector<Value>> groups(count, {value});
          if (missing < count)
            groups[missing].clear();
          (complaint(op.stripDialect(), groups).empty() ? built : refused)++;
        }
  }
  EXPECT_GT(built, 100);
  EXPECT_GT(refused, 1000);
}

} // namespace
