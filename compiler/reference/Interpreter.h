// SPDX-License-Identifier: Apache-2.0
// Runs graph programs and fused regions on the host through the operators'
// `evaluate`: floats in double, integers exact. The oracle of the tests.
#pragma once
#include "compiler/graph/GraphDialect.h"
#include "compiler/interfaces/HostTensor.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <map>
#include <string>

namespace halftone::reference {

/// Tensors by the names of inputs, parameters, states or outputs.
using TensorMap = std::map<std::string, HostTensor>;

struct RunResult {
  TensorMap outputs;
  /// New values of the parameters and states that the program assigns; an
  /// assigned pack is taken apart.
  TensorMap assigned;
  /// Every value of the program's block, where Interpreter::keepValues is set.
  llvm::DenseMap<mlir::Value, HostTensor> values;
};

class Interpreter {
public:
  /// Called after each op with its operands; may change the results.
  std::function<void(mlir::Operation *, llvm::ArrayRef<HostTensor> operands,
                     llvm::MutableArrayRef<HostTensor> results)>
      afterOp;
  bool keepValues = false;
  /// Rounds every result to its element type, so that a coloured program is
  /// simulated with its stored types (arithmetic stays double).
  bool roundResults = false;

  /// `named` holds all inputs and parameters; a state that is missing starts at
  /// its `init`. Fails with a diagnostic for a missing tensor, one of another
  /// shape, or an op that cannot be evaluated.
  llvm::FailureOr<RunResult> run(graph::ProgramOp program,
                                 const TensorMap &named);

  /// One tensor per operand of `fused`; gives one per result.
  llvm::FailureOr<llvm::SmallVector<HostTensor>>
  run(graph::FusedOp fused, llvm::ArrayRef<HostTensor> inputs);

  /// One op; `operands` have the shapes of its operands.
  llvm::FailureOr<llvm::SmallVector<HostTensor>>
  evaluate(mlir::Operation *op, llvm::ArrayRef<HostTensor> operands);
};

/// The start value of a state: `init` as it is, or its one element everywhere.
llvm::FailureOr<HostTensor> initialValue(graph::StateOp state);

} // namespace halftone::reference
