// SPDX-License-Identifier: Apache-2.0
// Writes graph ops, or computes them on the spot where everything is known.
#pragma once
#include "compiler/interfaces/HostTensor.h"
#include "frontends/onnx/ConstantPool.h"
#include "frontends/onnx/Weights.h"
#include "mlir/IR/Builders.h"
#include <map>
#include <variant>

namespace halftone::onnx_frontend {

/// What an ONNX value is here: a value of the program, a known constant, or a
/// sequence of such.
struct Imported {
  mlir::Value value;
  /// Broadcasts to `shape`.
  std::shared_ptr<const HostTensor> constant;
  llvm::SmallVector<int64_t> shape;
  std::shared_ptr<const std::vector<Imported>> sequence;
  /// The ONNX value's name, where it has one.
  std::string name;

  Imported() = default;
  Imported(mlir::Value value) : value(value) {}
  Imported(HostTensor tensor)
      : constant(std::make_shared<HostTensor>(std::move(tensor))),
        shape(constant->getShape()) {}
  Imported(std::shared_ptr<const HostTensor> constant,
           llvm::ArrayRef<int64_t> shape)
      : constant(std::move(constant)), shape(shape) {}
  Imported(std::vector<Imported> elements)
      : sequence(std::make_shared<std::vector<Imported>>(std::move(elements))) {
  }

  bool isTensor() const { return value || constant; }
  /// Of a value or constant.
  mlir::RankedTensorType type() const;
  /// A constant in full.
  HostTensor hostTensor() const { return broadcastTo(*constant, shape); }
};

class Emitter {
public:
  using Groups = llvm::ArrayRef<llvm::SmallVector<Imported>>;

  /// Ops go to the end of `block`. Constants too large for the IR become
  /// weights in `constants`.
  Emitter(mlir::Block *block, mlir::MLIRContext *context,
          WeightStore &constants);

  /// One `graph.OP`; one entry of `operands` a formal operand. If all operands
  /// are constants and the results are not huge, it is evaluated instead.
  /// Errors are MLIR diagnostics at `loc`.
  llvm::FailureOr<llvm::SmallVector<Imported>>
  emit(mlir::Location loc, llvm::StringRef op, Groups operands,
       llvm::ArrayRef<mlir::NamedAttribute> attributes);

  /// For ops with one result.
  llvm::FailureOr<Imported>
  emitOne(mlir::Location loc, llvm::StringRef op,
          llvm::ArrayRef<Imported> operands,
          llvm::ArrayRef<mlir::NamedAttribute> attributes);

  llvm::FailureOr<Imported> reshape(mlir::Location loc, const Imported &tensor,
                                    llvm::ArrayRef<int64_t> shape);

  /// The value itself, or a `graph.constant` (of large float tensors a
  /// `graph.parameter` of role constant, under its name), with a `graph.expand`
  /// where it is one tensor many times.
  mlir::Value materialize(mlir::Location loc, const Imported &tensor);

  /// The same constant, shrunk and shared with equal ones.
  Imported pooled(Imported constant);

  /// Discardable attributes for every op that is written from now on.
  void setOpAttributes(llvm::ArrayRef<mlir::NamedAttribute> attributes) {
    opAttributes.assign(attributes.begin(), attributes.end());
  }

  mlir::OpBuilder &builder() { return b; }

private:
  using Attributes = llvm::ArrayRef<mlir::NamedAttribute>;
  /// Op, attributes, and for each operand its tensor, shape and place.
  using Question =
      std::vector<std::variant<std::string, const void *, int64_t>>;

  Question question(llvm::StringRef op, Groups operands, Attributes attributes);
  /// An empty vector where the results would be huge.
  llvm::FailureOr<llvm::SmallVector<Imported>> evaluate(mlir::Location loc,
                                                        llvm::StringRef op,
                                                        Groups operands,
                                                        Attributes attributes);
  /// Builds the op over placeholders of the operands' types, in full or shrunk,
  /// into `scratch`.
  llvm::FailureOr<mlir::Operation *>
  buildScratch(mlir::Block &scratch, mlir::Location loc, llvm::StringRef op,
               Groups operands, Attributes attributes, bool shrunk);
  mlir::Value writeConstant(mlir::Location loc, const Imported &tensor);

  mlir::OpBuilder b;
  WeightStore &constants;
  ConstantPool pool;
  std::map<Question, llvm::SmallVector<Imported>> answers;
  /// Constants that were written already, by tensor and shape.
  std::map<std::pair<const HostTensor *, std::vector<int64_t>>, mlir::Value>
      written;
  llvm::SmallVector<mlir::NamedAttribute> opAttributes;
};

} // namespace halftone::onnx_frontend
