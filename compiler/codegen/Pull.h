// SPDX-License-Identifier: Apache-2.0
// Emits the scalar of any value of a fused region at any index, by pulling it
// from what it is made of.
#pragma once
#include "compiler/codegen/IndexForms.h"
#include "compiler/graph/GraphDialect.h"

namespace halftone::codegen {

/// The element of an op's result at `index` where the kernel has it at hand,
/// else null. Only asked for results of ops.
using ValueReader = std::function<mlir::Value(mlir::OpBuilder &, mlir::Value,
                                              mlir::ValueRange index)>;

/// One per kernel function. A value that was emitted at an index is used again
/// wherever it dominates.
class Pull {
public:
  /// `buffers` holds a flat memref for each input, then each output.
  /// `writable[i]`: an output may lie in input i's memory.
  Pull(graph::FusedOp fused, mlir::ValueRange buffers,
       llvm::ArrayRef<bool> writable, IndexForms &forms);

  /// Emits at the builder's insertion point; the scalar type of `v`'s elements.
  /// `index` has one `index` value a dimension of `v`. Operators that cannot be
  /// emitted give an arbitrary value, one error, and hasFailed().
  mlir::Value at(mlir::OpBuilder &b, mlir::Value v, mlir::ValueRange index);

  /// Emits the values `outputs` at `index` of the domain, to which they
  /// broadcast.
  llvm::SmallVector<mlir::Value> outputsAt(mlir::OpBuilder &b,
                                           llvm::ArrayRef<unsigned> outputs,
                                           mlir::ValueRange index);
  /// Stores what outputsAt gave.
  void store(mlir::OpBuilder &b, llvm::ArrayRef<unsigned> outputs,
             mlir::ValueRange index, mlir::ValueRange scalars);
  /// Both.
  void storeOutputs(mlir::OpBuilder &b, llvm::ArrayRef<unsigned> outputs,
                    mlir::ValueRange index);

  /// What `reader` has is taken from there; reductions come from nowhere else.
  void setReader(ValueReader r) { reader = std::move(r); }
  bool hasFailed() const { return failed; }

  graph::FusedOp fused;
  IndexForms &forms;

private:
  struct Entry {
    mlir::Block *block;
    mlir::Value scalar;
  };
  mlir::Value emit(mlir::OpBuilder &b, mlir::Value v, mlir::ValueRange index);
  mlir::Value emitOp(mlir::OpBuilder &b, mlir::OpResult v,
                     mlir::ValueRange index);
  mlir::Value load(mlir::OpBuilder &b, mlir::BlockArgument input,
                   mlir::ValueRange index);
  mlir::Value offset(mlir::OpBuilder &b, mlir::ValueRange index,
                     llvm::ArrayRef<int64_t> shape);
  mlir::Value fail(mlir::OpBuilder &b, mlir::Value v, const llvm::Twine &why);

  llvm::SmallVector<mlir::Value> buffers;
  llvm::SmallVector<bool> writable;
  ValueReader reader;
  std::map<std::pair<void *, llvm::SmallVector<unsigned, 6>>,
           llvm::SmallVector<Entry, 1>>
      memo;
  bool failed = false;
};

} // namespace halftone::codegen
