// SPDX-License-Identifier: Apache-2.0
// What a region's accesses look like over its iteration space, found by
// emitting it once on the side.
#pragma once
#include "compiler/codegen/Pull.h"

namespace halftone::codegen {

/// An iteration space whose dimensions are runs of neighbouring dimensions of
/// the domain.
struct Space {
  llvm::SmallVector<int64_t> domain;
  llvm::SmallVector<std::pair<unsigned, unsigned>>
      runs; ///< First and past-the-last domain dimension of each.
  llvm::SmallVector<int64_t> extents; ///< Elements of each run.
  llvm::SmallVector<bool>
      kinds; ///< Of each run; false where all its extents are 1.

  int64_t size() const;
  /// The domain's index of an index of the space.
  llvm::SmallVector<mlir::Value> expand(mlir::OpBuilder &b, mlir::Location loc,
                                        mlir::ValueRange index) const;
};

class AccessProbe {
public:
  /// Emits `outputs` and all operands of reductions of `fused` at one symbolic
  /// index of `domain`. hasFailed() if that is impossible.
  AccessProbe(graph::FusedOp fused, llvm::ArrayRef<int64_t> domain,
              llvm::ArrayRef<unsigned> outputs);
  ~AccessProbe();
  AccessProbe(const AccessProbe &) = delete;

  /// For each output, the inputs whose memory it may take over.
  llvm::SmallVector<llvm::SmallVector<unsigned>> reusable() const;

  bool hasFailed() const { return pull->hasFailed(); }

  /// Fewest dimensions in which all accesses stay sums over the dimensions.
  /// `kind[d]` keeps dimensions of different kinds apart.
  Space collapse(llvm::ArrayRef<bool> kind = {}) const;

private:
  /// Whether every load of `input` is at the element that is stored to
  /// `output`.
  bool readsOnlyWhereWritten(unsigned input, unsigned output) const;
  void collectForms();

  graph::FusedOp fused;
  llvm::SmallVector<int64_t> domain;
  mlir::OwningOpRef<mlir::ModuleOp> scratch; ///< Holds the block.
  mlir::Block *block;
  IndexForms forms;
  std::unique_ptr<Pull> pull;
  llvm::SmallVector<unsigned>
      atoms;                   ///< Of the domain's dimensions; ~0 for extent 1.
  std::vector<IndexForm> used; ///< Every form that something reads.
  std::vector<llvm::SmallVector<IndexForm>> loads,
      stores; ///< By buffer: inputs, then outputs.
};

} // namespace halftone::codegen
