// SPDX-License-Identifier: Apache-2.0
// A program that a test builds op by op.
#pragma once
#include "compiler/graph/BuildByName.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace halftone::test {

/// Every value is a tensor<8x8xf32>.
class BuiltProgram {
public:
  BuiltProgram()
      : context(mlir::MLIRContext::Threading::DISABLED), b(&context) {
    context.loadDialect<graph::GraphDialect>();
    module = mlir::ModuleOp::create(b.getUnknownLoc());
    b.setInsertionPointToEnd(module->getBody());
    auto program = b.create<graph::ProgramOp>(b.getUnknownLoc(), "main");
    b.setInsertionPointToEnd(&program.getBody().front());
  }

  mlir::Value input(llvm::StringRef name) {
    auto type = mlir::RankedTensorType::get({8, 8}, b.getF32Type());
    return b.create<graph::InputOp>(b.getUnknownLoc(), type, name, "data")
        .getResult();
  }
  mlir::Value op(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands) {
    llvm::SmallVector<llvm::SmallVector<mlir::Value>> groups;
    for (mlir::Value operand : operands)
      groups.push_back({operand});
    return (*graph::buildByName(b, b.getUnknownLoc(), name, groups, {}))
        ->getResult(0);
  }
  void output(mlir::Value value) {
    b.create<graph::OutputOp>(b.getUnknownLoc(), "y", value);
  }
  mlir::Block &block() { return *b.getInsertionBlock(); }

private:
  mlir::MLIRContext context;
  mlir::OpBuilder b;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace halftone::test
