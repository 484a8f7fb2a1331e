// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone/Inspect.h"
#include "runtime/plan/PlanReader.h"
#include "tools/halftone/InspectText.h"
#include "tools/halftone/Output.h"
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace halftone::tools {
namespace {

using runtime::Plan;
using Json = nlohmann::ordered_json;

Json nodeJson(const runtime::Node &node) {
  return {{"name", node.name},
          {"op", node.op},
          {"color", node.color},
          {"stored", node.stored},
          {"reason",
           {{"rule", node.rule}, {"source", node.source}, {"path", node.path}}},
          {"origin", node.origin},
          {"namespace", node.nameSpace},
          {"inputs", node.inputs},
          {"outputs", node.outputs},
          {"flops", node.flops}};
}

Json parameterJson(const Plan &plan, const runtime::Parameter &parameter) {
  const runtime::Buffer &buffer = plan.buffers[parameter.buffer];
  return {{"name", parameter.name},
          {"role", roleName(parameter.role)},
          {"type", runtime::elementName(buffer.type)},
          {"shape", buffer.shape},
          {"bytes", buffer.bytes},
          {"aliases", parameter.aliases},
          {"trained", parameter.gradient.has_value()}};
}

Json memoryJson(const Plan &plan) {
  Json arenas = Json::array();
  uint64_t total = 0;
  for (const runtime::Arena &arena : plan.arenas) {
    arenas.push_back({{"name", arena.name},
                      {"kind", arenaName(arena.kind)},
                      {"bytes", arena.bytes}});
    total += arena.bytes;
  }
  return {{"arenas", arenas}, {"total_bytes", total}};
}

/// A name between quotes in the dot language.
std::string dotString(const std::string &text) {
  std::string out = "\"";
  for (char c : oneLine(text)) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c;
  }
  return out + '"';
}

std::string fillOf(const std::string &color) {
  return color == "fp16"   ? "lightblue"
         : color == "bf16" ? "lightgreen"
         : color == "tf32" ? "khaki"
         : color.empty()   ? "white"
                           : "mistyrose";
}

} // namespace

std::string inspectJson(const Plan &plan) {
  Json nodes = Json::array(), casts = Json::array(), parameters = Json::array();
  for (const runtime::Node &node : plan.nodes)
    nodes.push_back(nodeJson(node));
  for (const runtime::Cast &cast : plan.casts)
    casts.push_back({{"value", cast.value},
                     {"from", cast.from},
                     {"to", cast.to},
                     {"consumers", cast.consumers}});
  for (const runtime::Parameter &parameter : plan.parameters)
    parameters.push_back(parameterJson(plan, parameter));
  // What a compiler wrote is valid JSON; anything else is shown as text.
  Json recipe =
      Json::parse(plan.recipeJson, nullptr, /*allow_exceptions=*/false);
  Json document = {
      {"model", plan.modelName},
      {"producer", plan.producer},
      {"target", plan.target},
      {"architecture", plan.architecture},
      {"precision", plan.precision},
      {"batch", plan.batch},
      {"loss", plan.loss},
      {"recipe", recipe.is_discarded() ? Json(plan.recipeJson) : recipe},
      {"notes", plan.notes},
      {"nodes", nodes},
      {"casts", casts},
      {"parameters", parameters},
      {"memory", memoryJson(plan)},
      {"steps",
       {{"train", plan.train.steps.size()}, {"eval", plan.eval.steps.size()}}}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string inspectDot(const Plan &plan) {
  std::string text = "digraph plan {\n  node [shape=box, style=filled];\n";
  std::map<std::string, std::string> producers;
  for (const runtime::Node &node : plan.nodes) {
    text += fmt::format(
        "  {} [label={}, fillcolor={}];\n", dotString(node.name),
        dotString(node.name + " (" + node.op +
                  (node.color.empty() ? "" : ", " + node.color) + ")"),
        fillOf(node.color));
    for (const std::string &output : node.outputs)
      producers[output] = node.name;
  }
  for (const runtime::Node &node : plan.nodes)
    for (const std::string &input : node.inputs)
      if (auto it = producers.find(input); it != producers.end())
        text += fmt::format("  {} -> {};\n", dotString(it->second),
                            dotString(node.name));
  return text + "}\n";
}

void declareInspectFlags(CLI::App &command, InspectFlags &flags) {
  command.add_option("plan", flags.plan, "the plan file")->required();
  auto *json =
      command.add_flag("--json", flags.json, "everything as one JSON object");
  auto *dot =
      command.add_flag("--dot", flags.dot, "the nodes as a Graphviz graph")
          ->excludes(json);
  command.add_option("--html", flags.html, "a picture as a web page");
  command.add_option("--onnx", flags.onnx,
                     "the coloured graph as an ONNX file");
  command
      .add_option("--explain", flags.explain,
                  "why these nodes have their colours")
      ->excludes(json)
      ->excludes(dot);
}

int runInspect(const InspectFlags &flags) {
  for (auto [given, option] : {std::pair(!flags.html.empty(), "--html"),
                               {!flags.onnx.empty(), "--onnx"}})
    if (given) {
      say("error",
          fmt::format("halftone inspect {} is not available yet", option));
      return 2;
    }
  if (llvm::is_contained(flags.explain, "")) {
    say("error", "--explain '': expected a node's name or a part of it");
    return 2;
  }
  auto plan = runtime::readPlan(flags.plan);
  if (!plan.ok()) {
    say("error", plan.status().message());
    return plan.status().code() == runtime::StatusCode::InvalidInput ? 2 : 1;
  }
  if (flags.json)
    return print(inspectJson(**plan));
  if (flags.dot)
    return print(inspectDot(**plan));
  if (flags.explain.empty())
    return print(inspectTable(**plan));
  std::string all;
  for (const std::string &name : flags.explain) {
    std::string text = explainNode(**plan, name);
    if (text.empty()) {
      say("error", fmt::format("the plan has no node whose name contains '{}'; "
                               "halftone inspect {} lists them",
                               name, flags.plan));
      return 2;
    }
    all += text;
  }
  return print(all);
}

} // namespace halftone::tools
