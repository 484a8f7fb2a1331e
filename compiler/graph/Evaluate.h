// SPDX-License-Identifier: Apache-2.0
// What the operators' `evaluate` methods are made of.
#pragma once
#include "compiler/interfaces/HostTensor.h"
#include "mlir/IR/Operation.h"

namespace halftone::graph {

/// A zero tensor of the type of result `i`.
HostTensor resultTensor(mlir::Operation *op, unsigned i = 0);

/// Elementwise evaluation with broadcasting. `fn` takes one argument an operand
/// and must accept doubles and int64s alike (a generic lambda, or overloads):
/// it is called with doubles if any operand is float, else with int64s.
/// `where`-like ops that mix read operands themselves.
template <unsigned Arity, typename Fn>
llvm::LogicalResult
evaluateElementwise(mlir::Operation *op, llvm::ArrayRef<HostTensor> operands,
                    llvm::SmallVectorImpl<HostTensor> &results, Fn fn) {
  HostTensor out = resultTensor(op);
  llvm::SmallVector<int64_t> index(out.getRank(), 0);
  bool anyFloat =
      llvm::any_of(operands, [](const HostTensor &t) { return t.isFloat(); });
  auto at = [&](unsigned k, auto kind) {
    int64_t offset = broadcastOffset(index, operands[k].getShape());
    if constexpr (std::is_same_v<decltype(kind), double>)
      return operands[k].asDouble(offset);
    else
      return operands[k].asInt(offset);
  };
  auto call = [&](auto kind) {
    if constexpr (Arity == 1)
      return fn(at(0, kind));
    else if constexpr (Arity == 2)
      return fn(at(0, kind), at(1, kind));
    else
      return fn(at(0, kind), at(1, kind), at(2, kind));
  };
  auto store = [&](int64_t i, auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>)
      out.set(i, static_cast<double>(value));
    else
      out.set(i, static_cast<int64_t>(value));
  };
  for (int64_t i = 0, n = out.size(); i < n; ++i) {
    if (anyFloat)
      store(i, call(0.0));
    else
      store(i, call(int64_t(0)));
    nextIndex(index, out.getShape());
  }
  results.push_back(std::move(out));
  return llvm::success();
}

/// An index map: element `i` of result 0 is the element of operand `operand` at
/// the offset that `source(index)` names, or `fill` where that is negative.
llvm::LogicalResult
evaluateMove(mlir::Operation *op, const HostTensor &operand,
             llvm::SmallVectorImpl<HostTensor> &results,
             llvm::function_ref<int64_t(llvm::ArrayRef<int64_t> index)> source,
             double fill = 0);

} // namespace halftone::graph
