// SPDX-License-Identifier: Apache-2.0
// Writes graph ops, or computes them on the spot where everything is known.
#pragma once
#include "compiler/interfaces/HostTensor.h"
#include "frontends/onnx/Weights.h"
#include "mlir/IR/Builders.h"
#include <memory>

namespace halftone::onnx_frontend {

/// What an ONNX value is here: a value of the program, a known constant, or a sequence of such.
struct Imported {
  mlir::Value value;
  std::shared_ptr<const HostTensor> constant;
  std::shared_ptr<const std::vector<Imported>> sequence;
  /// The ONNX value's name, where it has one.
  std::string name;

  Imported() = default;
  Imported(mlir::Value value) : value(value) {}
  Imported(HostTensor tensor) : constant(std::make_shared<HostTensor>(std::move(tensor))) {}
  Imported(std::vector<Imported> elements) : sequence(std::make_shared<std::vector<Imported>>(std::move(elements))) {}

  /// Of a value or constant.
  mlir::RankedTensorType type() const;
  bool isTensor() const { return value || constant; }
};

class Emitter {
public:
  using Groups = llvm::ArrayRef<llvm::SmallVector<Imported>>;

  /// Ops go to the end of `block`. Constants too large for the IR become weights in `constants`.
  Emitter(mlir::Block *block, mlir::MLIRContext *context, WeightStore &constants);

  /// One `graph.OP`; one entry of `operands` a formal operand. If all operands are constants and the results are not huge,
  /// it is evaluated instead. Errors are MLIR diagnostics at `loc`.
  llvm::FailureOr<llvm::SmallVector<Imported>> emit(mlir::Location loc, llvm::StringRef op, Groups operands,
                                                    llvm::ArrayRef<mlir::NamedAttribute> attributes);

  /// For ops with one result.
  llvm::FailureOr<Imported> emitOne(mlir::Location loc, llvm::StringRef op, llvm::ArrayRef<Imported> operands,
                                    llvm::ArrayRef<mlir::NamedAttribute> attributes);

  llvm::FailureOr<Imported> reshape(mlir::Location loc, const Imported &tensor, llvm::ArrayRef<int64_t> shape);

  /// The value itself, or a `graph.constant` (of large float tensors a `graph.parameter` of role constant, under its name).
  mlir::Value materialize(mlir::Location loc, const Imported &tensor);

  /// Discardable attributes for every op that is written from now on.
  void setOpAttributes(llvm::ArrayRef<mlir::NamedAttribute> attributes) { opAttributes.assign(attributes.begin(), attributes.end()); }

  mlir::OpBuilder &builder() { return b; }

private:
  llvm::FailureOr<std::optional<llvm::SmallVector<Imported>>> tryEvaluate(mlir::Location loc, llvm::StringRef op, Groups operands,
                                                                          llvm::ArrayRef<mlir::NamedAttribute> attributes);

  mlir::OpBuilder b;
  WeightStore &constants;
  /// Constants that were written already, by their data.
  llvm::DenseMap<const HostTensor *, std::pair<std::shared_ptr<const HostTensor>, mlir::Value>> written;
  llvm::SmallVector<mlir::NamedAttribute> opAttributes;
};

} // namespace halftone::onnx_frontend
