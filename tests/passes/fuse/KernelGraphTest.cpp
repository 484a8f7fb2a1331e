// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/KernelGraph.h"
#include <gtest/gtest.h>

using halftone::passes::KernelGraph;

namespace {

KernelGraph chain(unsigned length) {
  KernelGraph graph;
  graph.addNode();
  for (unsigned i = 1; i < length; ++i)
    graph.addEdge(i - 1, graph.addNode());
  return graph;
}

TEST(KernelGraph, FindsPathsAndNoOthers) {
  KernelGraph graph = chain(5);
  KernelGraph::Node aside = graph.addNode();
  graph.addEdge(2, aside);
  EXPECT_TRUE(graph.mayReach(0, {4}));
  EXPECT_TRUE(graph.mayReach(0, {aside}));
  EXPECT_TRUE(graph.mayReach(3, {aside, 4}));
  EXPECT_FALSE(graph.mayReach(4, {0}));
  EXPECT_FALSE(graph.mayReach(aside, {3, 4}));
  EXPECT_FALSE(graph.mayReach(3, {aside}));
  EXPECT_FALSE(graph.mayReach(0, {}));
}

TEST(KernelGraph, AnEdgeToItselfIsNone) {
  KernelGraph graph = chain(2);
  graph.addEdge(1, 1);
  EXPECT_FALSE(graph.mayReach(1, {0}));
}

// A dead end costs what it leads to, however much there is on the other side.
TEST(KernelGraph, TheSmallerSideDecides) {
  KernelGraph graph = chain(100000);
  KernelGraph::Node dead = graph.addNode();
  graph.addEdge(0, dead);
  EXPECT_FALSE(graph.mayReach(dead, {99999}));
  EXPECT_LE(graph.steps(), 2U);
}

TEST(KernelGraph, TooLongASearchMeansPerhaps) {
  KernelGraph graph = chain(4 * KernelGraph::kMostSteps);
  EXPECT_TRUE(graph.mayReach(0, {4 * KernelGraph::kMostSteps - 1}));
  EXPECT_LE(graph.steps(), KernelGraph::kMostSteps + 1);
}

} // namespace
