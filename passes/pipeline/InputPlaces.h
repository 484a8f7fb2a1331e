// SPDX-License-Identifier: Apache-2.0
// Follows the elements of integer inputs through ops that only move them.
#pragma once
#include "compiler/graph/GraphOps.h"
#include "compiler/interfaces/HostTensor.h"

namespace halftone::passes {

/// Element `offset` of an input, in row-major order.
struct InputElement {
  graph::InputOp input;
  int64_t offset;
};

/// Says of values of a program which of their elements are an input's. The
/// ops between are evaluated on the numbers of the elements in place of their
/// values, so that each op's own rule says what it moves where.
class InputPlaces {
public:
  /// Follows the inputs as far as `wanted`, and no other values. Fails with a
  /// diagnostic where an op that moves elements cannot be evaluated.
  static llvm::FailureOr<InputPlaces> find(graph::ProgramOp program,
                                           llvm::ArrayRef<mlir::Value> wanted);

  /// Where element `i` of one of the wanted values comes from; nullopt where it
  /// is no input's, is computed, or depends on other data.
  std::optional<InputElement> at(mlir::Value value, int64_t i) const;

private:
  void number(graph::InputOp input);
  llvm::LogicalResult follow(mlir::Operation *op);

  /// Numbers of elements, counted from 1 through all inputs; 0 for others.
  llvm::DenseMap<mlir::Value, HostTensor> numbers;
  llvm::SmallVector<std::pair<int64_t, graph::InputOp>> firstNumbers;
  int64_t next = 1;
};

} // namespace halftone::passes
