// SPDX-License-Identifier: Apache-2.0
// Textual IR for tests of the reference.
#pragma once
#include "compiler/exec/ExecOps.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace halftone::test {

/// A context with our dialects, and what was parsed in it; null where the text
/// does not parse.
struct ParsedModule {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  explicit ParsedModule(llvm::StringRef text)
      : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<graph::GraphDialect, exec::ExecDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  /// The first op of its kind at any depth.
  template <typename Op> Op first() {
    Op found;
    module->walk([&](Op op) {
      if (!found)
        found = op;
    });
    return found;
  }

  HostTensor tensor(llvm::ArrayRef<int64_t> shape, std::vector<double> values,
                    mlir::Type type = {}) {
    auto element = type ? type : mlir::Float32Type::get(&context);
    HostTensor t(mlir::RankedTensorType::get(shape, element));
    for (size_t i = 0; i < values.size(); ++i)
      t.set(static_cast<int64_t>(i), values[i]);
    return t;
  }
};

} // namespace halftone::test
