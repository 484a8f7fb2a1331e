// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/VerifyModel.h"
#include "frontends/onnx/Operators.h"
#include "onnx/checker.h"
#include "onnx/defs/schema.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <queue>
#include <regex>

using onnx::GraphProto, onnx::ModelProto, onnx::NodeProto;

namespace halftone::onnx_frontend {

bool verifyVersions(const ModelProto &model, DiagnosticLog &log) {
  constexpr int64_t kOldestIr = 7, kOldestOpset = 13, kNewestOpset = 27;
  if (model.ir_version() < kOldestIr || model.ir_version() > onnx::IR_VERSION)
    log.error("the file has ONNX IR version " +
              std::to_string(model.ir_version()) + "; versions 7 to " +
              std::to_string(onnx::IR_VERSION) +
              " can be read: export the model again with another version of "
              "the exporter");
  int64_t opset = opsetVersion(model);
  if (!opset && model.functions().empty())
    log.error("the model imports no version of ONNX's operators");
  else if (opset && (opset < kOldestOpset || opset > kNewestOpset))
    log.error("the model uses opset " + std::to_string(opset) +
              "; opsets 13 to 27 can be read: export it with opset_version=20");
  if (!model.graph().sparse_initializer().empty())
    log.error("initializer '" +
              model.graph().sparse_initializer(0).values().name() +
              "' is sparse: only dense ones are supported");
  return !log.hasErrors();
}

static void nameNodes(google::protobuf::RepeatedPtrField<NodeProto> &nodes) {
  llvm::StringSet<> taken;
  for (const NodeProto &node : nodes)
    taken.insert(node.name());
  for (int i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].name().empty())
      continue;
    std::string name = nodes[i].op_type() + "_" + std::to_string(i);
    while (!taken.insert(name).second)
      name += "_";
    nodes[i].set_name(name);
  }
}

void nameNodes(ModelProto &model) {
  nameNodes(*model.mutable_graph()->mutable_node());
  for (auto &function : *model.mutable_functions())
    nameNodes(*function.mutable_node());
}

namespace {

/// Edges between the nodes of a graph.
struct NodeGraph {
  /// Producer of a value; -1 for inputs and initializers.
  llvm::StringMap<int> producers;
  std::vector<std::vector<int>> users;
  std::vector<int> pending;
  std::vector<bool> live;
};

/// Names, each with those it is found at, in the order of the file.
using Findings = llvm::MapVector<std::string, std::vector<std::string>,
                                 std::map<std::string, unsigned>>;

std::string list(const Findings &findings) {
  std::string text;
  for (const auto &[name, places] : findings)
    text += (text.empty() ? "" : "; ") + name + " (" + joinNames(places) + ")";
  return text;
}

bool buildEdges(const GraphProto &graph, NodeGraph &edges, DiagnosticLog &log) {
  for (const auto &input : graph.input())
    edges.producers[input.name()] = -1;
  for (const auto &initializer : graph.initializer())
    edges.producers[initializer.name()] = -1;
  Findings twice, unknown;
  std::vector<std::string> outputs;
  llvm::StringSet<> named;
  for (const auto &output : graph.output())
    if (!named.insert(output.name()).second)
      outputs.push_back(output.name());
  if (!outputs.empty())
    log.error(counted(outputs.size(), "name") +
              (outputs.size() == 1 ? " is" : " are") +
              " listed twice among the graph's outputs: " + joinNames(outputs) +
              ". Give each output a name of its own, through Identity where "
              "both are one value");
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string &output : graph.node(i).output())
      if (!output.empty() && !edges.producers.try_emplace(output, i).second)
        twice[output].push_back(graph.node(i).name());
  if (!twice.empty())
    log.error(
        counted(twice.size(), "value") + (twice.size() == 1 ? " is" : " are") +
        " produced twice, the second time by the nodes named: " + list(twice));
  edges.users.resize(graph.node_size());
  edges.pending.resize(graph.node_size());
  edges.live.resize(graph.node_size());
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string &input : graph.node(i).input()) {
      if (input.empty())
        continue;
      auto found = edges.producers.find(input);
      if (found == edges.producers.end()) {
        unknown[input].push_back(graph.node(i).name());
      } else if (found->second >= 0) {
        edges.users[found->second].push_back(i);
        ++edges.pending[i];
      }
    }
  for (const auto &output : graph.output())
    if (!edges.producers.contains(output.name()))
      unknown[output.name()].push_back("the graph's outputs");
  if (!unknown.empty())
    log.error("nothing produces " + counted(unknown.size(), "value") +
              " of the graph, with the nodes that read " +
              (unknown.size() == 1 ? "it: " : "them: ") + list(unknown));
  return !log.hasErrors();
}

void markLive(const GraphProto &graph, NodeGraph &edges) {
  std::vector<int> work;
  auto need = [&](const std::string &value) {
    auto found = edges.producers.find(value);
    if (found == edges.producers.end() || found->second < 0 ||
        edges.live[found->second])
      return;
    edges.live[found->second] = true;
    work.push_back(found->second);
  };
  for (const auto &output : graph.output())
    need(output.name());
  while (!work.empty()) {
    int node = work.back();
    work.pop_back();
    for (const std::string &input : graph.node(node).input())
      need(input);
  }
}

} // namespace

bool orderNodes(ModelProto &model, DiagnosticLog &log) {
  GraphProto &graph = *model.mutable_graph();
  NodeGraph edges;
  if (!buildEdges(graph, edges, log))
    return false;
  markLive(graph, edges);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < graph.node_size(); ++i)
    if (!edges.pending[i])
      ready.push(i);
  std::vector<int> order;
  while (!ready.empty()) {
    int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (int user : edges.users[node])
      if (--edges.pending[user] == 0)
        ready.push(user);
  }
  if (order.size() < static_cast<size_t>(graph.node_size())) {
    std::vector<std::string> names;
    for (int i = 0; i < graph.node_size(); ++i)
      if (edges.pending[i])
        names.push_back(graph.node(i).name());
    log.error("the graph is cyclic: these nodes wait for each other, or for "
              "one that does: " +
              joinNames(names, 10));
    return false;
  }
  google::protobuf::RepeatedPtrField<NodeProto> sorted;
  for (int node : order)
    if (edges.live[node])
      sorted.Add()->Swap(graph.mutable_node(node));
  graph.mutable_node()->Swap(&sorted);
  return true;
}

namespace {

/// Collects unsupported operators; functions are visited once each.
class OperatorScan {
public:
  OperatorScan(mlir::MLIRContext *context, const ModelProto &model)
      : context(context) {
    for (const auto &function : model.functions())
      functions[function.domain() + "\n" + function.name()] = &function;
  }

  void visit(const google::protobuf::RepeatedPtrField<NodeProto> &nodes,
             int64_t opset, const std::string &within) {
    for (const NodeProto &node : nodes) {
      auto function = functions.find(node.domain() + "\n" + node.op_type());
      if (function != functions.end()) {
        const onnx::FunctionProto &body = *function->second;
        if (visited.insert(function->first()).second)
          visit(body.node(), opsetVersion(body), " in function " + body.name());
        continue;
      }
      std::string name = isOnnxDomain(node.domain())
                             ? node.op_type()
                             : node.domain() + "." + node.op_type();
      if (!isOnnxDomain(node.domain()) ||
          !isImportable(context, node.op_type()))
        unsupported[name].push_back(node.name() + within);
      else if (!onnx::OpSchemaRegistry::Schema(node.op_type(),
                                               static_cast<int>(opset), ""))
        unsupported[name + " (not in opset " + std::to_string(opset) + ")"]
            .push_back(node.name() + within);
    }
  }

  Findings unsupported;

private:
  mlir::MLIRContext *context;
  llvm::StringMap<const onnx::FunctionProto *> functions;
  llvm::StringSet<> visited;
};

} // namespace

bool verifyOperators(mlir::MLIRContext *context, const ModelProto &model,
                     DiagnosticLog &log) {
  OperatorScan scan(context, model);
  scan.visit(model.graph().node(), opsetVersion(model), "");
  if (scan.unsupported.empty())
    return true;
  log.error(counted(scan.unsupported.size(), "operator") + " of the model " +
            (scan.unsupported.size() == 1 ? "is" : "are") +
            " not supported, with their nodes: " + list(scan.unsupported));
  return false;
}

std::string firstParagraph(const char *text) {
  std::string first = llvm::StringRef(text).split("\n\n").first.trim().str();
  std::replace(first.begin(), first.end(), '\n', ' ');
  static const std::regex place(
      R"([^ ]*\.(cc|cpp|h):\d+: [^ ]*: (Assertion `[^`]*` failed: )?)");
  return std::regex_replace(first, place, "");
}

bool runChecker(const ModelProto &model, DiagnosticLog &log) {
  try {
    onnx::checker::check_model(model);
    return true;
  } catch (const std::exception &refusal) {
    log.error("ONNX's checker refuses the model: " +
              firstParagraph(refusal.what()));
    return false;
  }
}

} // namespace halftone::onnx_frontend
