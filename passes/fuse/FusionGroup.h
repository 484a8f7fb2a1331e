// SPDX-License-Identifier: Apache-2.0
// Sets of ops that become one kernel, and the rules by which an op may join
// one.
#pragma once
#include "compiler/graph/GraphOps.h"
#include "passes/fuse/KernelGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <memory>
#include <vector>

namespace halftone::passes {

/// How an op takes part in fusion; decided by its facets alone.
enum class FusionKind {
  None,      ///< library calls, packs, views, sources: not fused
  Pointwise, ///< one scalar an element
  Move,   ///< index map: costs a load; may be computed again in every consumer
  Window, ///< an element costs a loop: consumers may follow, producers are not
          ///< pulled in
  Reduction,
  Scatter
};
FusionKind fusionKind(mlir::Operation *op);

/// Whether an index map reads every element at most once (transposes yes,
/// broadcasts no).
bool readsOnce(mlir::Operation *op);

struct FusionGroup {
  /// pointwise: shape of the results; reduction: shape of what is reduced.
  llvm::SmallVector<int64_t> domain;
  llvm::SmallVector<int64_t> reduced; ///< empty: pointwise
  bool scatter = false, window = false;
  graph::TransposeOp turn; ///< The first one behind a window.
  bool optimizer =
      false; ///< apart from the rest: gradients must be complete without it
  llvm::SetVector<mlir::Operation *> ops;
  KernelGraph::Node node = 0; ///< in the plan's graph
  bool isReduction() const { return !reduced.empty(); }
};

/// A partition of a block's fusible ops. Groups never form a cycle with what
/// lies between them.
class FusionPlan {
public:
  /// `join` false: every op is a group of its own.
  FusionPlan(mlir::Block &block, bool join);

  FusionGroup *groupOf(mlir::Operation *op) const {
    return membership.lookup(op);
  }
  /// Whether the kernel of `v` can store it: one that reduces has no loop over
  /// other shapes than its domain and its rows.
  bool mayStore(mlir::Value v) const;
  /// Non-empty groups in order of their last op.
  std::vector<FusionGroup *> groups() const;
  /// What finding the groups has cost, in edges looked at.
  size_t steps() const { return graph.steps(); }

private:
  void place(mlir::Operation *op);
  bool canJoin(mlir::Operation *op, FusionKind kind,
               const FusionGroup &group) const;
  /// Whether something outside `group` lies, or may lie, on a path from the
  /// group to `op`.
  bool wouldCycle(mlir::Operation *op, const FusionGroup &group);
  bool isUsedOnlyBy(const FusionGroup &group, mlir::Operation *op) const;
  bool mayTurn(const FusionGroup &group, graph::TransposeOp op) const;
  void add(mlir::Operation *op, FusionKind kind, FusionGroup &group);

  bool join;
  std::vector<std::unique_ptr<FusionGroup>> all;
  llvm::DenseMap<mlir::Operation *, FusionGroup *> membership;
  KernelGraph graph;
  llvm::DenseMap<mlir::Operation *, KernelGraph::Node> nodes;
};

} // namespace halftone::passes
