// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/KernelGraph.h"
#include "llvm/ADT/ScopeExit.h"

namespace halftone::passes {

KernelGraph::Node KernelGraph::addNode() {
  vertices.emplace_back();
  return static_cast<Node>(vertices.size() - 1);
}

void KernelGraph::addEdge(Node from, Node to) {
  // Edges into one node come together, so that a repeated one is seen at the
  // end of the list of `from`; others that repeat cost a step and do no harm.
  auto &readers = vertices[from].readers;
  if (from == to || (!readers.empty() && readers.back() == to))
    return;
  readers.push_back(to);
  vertices[to].sources.push_back(from);
}

bool KernelGraph::mayReach(Node from, llvm::ArrayRef<Node> targets) {
  ++question;
  llvm::SmallVector<Node> forwards{from}, backwards;
  vertices[from].metForwards = question;
  for (Node target : targets)
    if (vertices[target].metBackwards != question) {
      vertices[target].metBackwards = question;
      backwards.push_back(target);
    }
  size_t steps = 0;
  auto charge = llvm::make_scope_exit([&] { allSteps += steps; });
  // Breadth first, a node of each side in turn: the smaller side ends it.
  for (size_t i = 0; i < forwards.size() && i < backwards.size(); ++i) {
    for (Node reader : vertices[forwards[i]].readers) {
      Vertex &vertex = vertices[reader];
      if (vertex.metBackwards == question || ++steps > kMostSteps)
        return true;
      if (vertex.metForwards != question) {
        vertex.metForwards = question;
        forwards.push_back(reader);
      }
    }
    for (Node source : vertices[backwards[i]].sources) {
      Vertex &vertex = vertices[source];
      if (vertex.metForwards == question || ++steps > kMostSteps)
        return true;
      if (vertex.metBackwards != question) {
        vertex.metBackwards = question;
        backwards.push_back(source);
      }
    }
  }
  return false;
}

} // namespace halftone::passes
