// SPDX-License-Identifier: Apache-2.0
// `halftone inspect`: a plan's coloured graph, parameters, casts and memory.
#pragma once
#include "runtime/plan/Plan.h"
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace halftone::tools {

struct InspectFlags {
  std::string plan;
  bool json = false, dot = false;
  std::string html, onnx;
  std::vector<std::string> explain;
};

void declareInspectFlags(CLI::App &command, InspectFlags &flags);

/// Runs the command; returns the exit code. Messages go to stderr.
int runInspect(const InspectFlags &flags);

/// The table: summary, nodes, parameters, casts, memory.
std::string inspectTable(const runtime::Plan &plan);
/// The object that docs/architecture.md section 5 describes.
std::string inspectJson(const runtime::Plan &plan);
/// The nodes as a Graphviz graph, filled by colour.
std::string inspectDot(const runtime::Plan &plan);
/// Why the node called `name` has its colour: a few lines for each node of that
/// name, or else whose name contains it. Empty: there is none.
std::string explainNode(const runtime::Plan &plan, const std::string &name);

} // namespace halftone::tools
