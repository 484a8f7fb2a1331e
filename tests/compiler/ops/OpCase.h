// SPDX-License-Identifier: Apache-2.0
// One operator with operands of chosen shapes, as a row of a test table: built
// by name as an importer does, then evaluated, decomposed and differentiated.
#pragma once
#include "compiler/graph/GraphOps.h"
#include "compiler/interfaces/HostTensor.h"
#include "compiler/reference/GradientCheck.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace halftone::test {

/// An operand that is filled with fixed pseudo-random values in [low, high],
/// all different as far as the range allows.
struct Operand {
  std::vector<int64_t> shape;
  char kind = 'f'; ///< f32, i64, 'b'ool, or '-': absent.
  double low = -1, high = 1;
};
inline const Operand kAbsent{{}, '-'};

struct OpCase {
  const char *name;
  const char *attributes; ///< The inside of a dictionary: "axis = 1 : si64".
  std::vector<Operand> operands;
  /// As in GradientCheckOptions.
  llvm::SmallVector<unsigned> ignoredOperands = {}, ignoredResults = {};
};

/// The op of a case in a program of its own. `op` is null where building
/// refused; `message` then says why.
class BuiltOp {
public:
  explicit BuiltOp(const OpCase &row);

  /// Values of an operand (absent ones do not count).
  void set(unsigned operand, std::vector<double> values);
  std::vector<HostTensor> evaluate();
  /// Of anything that was built behind the op.
  std::vector<HostTensor> evaluate(mlir::ValueRange values);
  /// The values of the op's decomposition.
  std::vector<HostTensor> evaluateDecomposed();
  llvm::FailureOr<reference::GradientReport> checkGradient();
  /// What the gradient rule gives for gradient `dy` of result 0 and none of
  /// the others; an empty tensor where none flows.
  std::vector<HostTensor> gradients(std::vector<double> dy);

  mlir::MLIRContext context;
  std::string message;
  mlir::Operation *op = nullptr;
  std::vector<HostTensor> operands;

private:
  const OpCase row;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  graph::ProgramOp program;
};

/// Numbers with few bits and some ties: ((7 i + 3 shift) mod 11 - 5) / 4.
std::vector<double> simple(int64_t count, int64_t shift = 1);

/// Result `i` of the case with the given operand values.
std::vector<double> resultOf(const OpCase &row,
                             const std::vector<std::vector<double>> &values,
                             unsigned i = 0);

/// Expects equal shapes and values within `tolerance`, relative to max(1,
/// |value|); NaN equals NaN.
void expectNear(llvm::ArrayRef<double> actual, llvm::ArrayRef<double> expected,
                double tolerance = 1e-12);

/// For every row: the gradient rule agrees with differences, where there is
/// one; the decomposition agrees with `evaluate`, likewise.
void checkRows(llvm::ArrayRef<OpCase> rows);

/// A case that must be refused, and a part of the message.
struct Refusal {
  OpCase row;
  const char *message;
};
void checkRefusals(llvm::ArrayRef<Refusal> rows);

} // namespace halftone::test
