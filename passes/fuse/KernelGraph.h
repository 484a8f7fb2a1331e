// SPDX-License-Identifier: Apache-2.0
// Who waits for whom while kernels are being put together: a graph that only
// grows, and the question whether one more edge would close a cycle.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstddef>
#include <vector>

namespace halftone::passes {

/// A directed graph without cycles. Nodes are kernels-to-be and single ops.
class KernelGraph {
public:
  using Node = unsigned;

  Node addNode();

  /// `to` reads what `from` writes; an edge of a node to itself is none. The
  /// caller has asked `mayReach(to, from)` where it could be true.
  void addEdge(Node from, Node to);

  /// Whether there is a path from `from` to one of `targets`, none of which is
  /// `from`. Searches from both ends at once and gives up after
  /// `kMostSteps` edges: the answer is then true, so that a compile takes
  /// linear time and at worst a kernel stays smaller than it could be.
  bool mayReach(Node from, llvm::ArrayRef<Node> targets);

  /// Edges that all questions together went along.
  size_t steps() const { return allSteps; }

  static constexpr size_t kMostSteps = 1024;

private:
  struct Vertex {
    llvm::SmallVector<Node, 2> readers, sources;
    /// The question that met the node last, from the one and the other end.
    unsigned metForwards = 0, metBackwards = 0;
  };

  std::vector<Vertex> vertices;
  unsigned question = 0;
  size_t allSteps = 0;
};

} // namespace halftone::passes
