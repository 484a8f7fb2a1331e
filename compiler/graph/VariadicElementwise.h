// SPDX-License-Identifier: Apache-2.0
// What elementwise operators of any number of operands share.
#pragma once
#include "compiler/graph/Evaluate.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace halftone::graph {

/// Host evaluation: `combine` folds the broadcast operands, the first one
/// being the start; it takes two doubles or two int64s.
template <typename Combine>
llvm::LogicalResult
evaluateVariadic(mlir::Operation *op, llvm::ArrayRef<HostTensor> operands,
                 llvm::SmallVectorImpl<HostTensor> &results, Combine combine) {
  HostTensor out = resultTensor(op);
  llvm::SmallVector<int64_t> index(out.getRank(), 0);
  for (int64_t i = 0, n = out.size(); i < n; ++i) {
    for (auto [k, operand] : llvm::enumerate(operands)) {
      int64_t from = broadcastOffset(index, operand.getShape());
      if (out.isFloat()) {
        double x = operand.asDouble(from);
        out.floats[i] = k ? combine(out.floats[i], x) : x;
      } else {
        int64_t x = operand.asInt(from);
        out.ints[i] = k ? combine(out.ints[i], x) : x;
      }
    }
    nextIndex(index, out.getShape());
  }
  results.push_back(std::move(out));
  return llvm::success();
}

/// Gradients of max and min: each operand that equals `extreme` gets `dy`,
/// divided by how many do.
llvm::SmallVector<mlir::Value> shareAmongTies(mlir::ImplicitLocOpBuilder &b,
                                              mlir::ValueRange operands,
                                              mlir::Value extreme,
                                              mlir::Value dy);

} // namespace halftone::graph
