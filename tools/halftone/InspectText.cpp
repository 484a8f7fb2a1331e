// SPDX-License-Identifier: Apache-2.0
// The table and the explanations of `halftone inspect`.
#include "tools/halftone/InspectText.h"
#include "passes/precision/Precision.h"
#include "tools/halftone/Inspect.h"
#include "tools/halftone/Output.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace halftone::tools {
namespace {

using runtime::Plan;
namespace rule = passes::rule;

// Wider columns are cut: names of deep modules would push the rest off the
// screen.
constexpr size_t kMaxColumn = 56;

std::string shortened(const std::string &text) {
  return text.size() <= kMaxColumn ? text
                                   : text.substr(0, kMaxColumn - 3) + "...";
}

/// A line of the output, whatever the names in it are.
std::string lineOf(const std::string &text) { return oneLine(text) + "\n"; }

/// First and last two entries of a long path.
std::string pathText(const std::vector<std::string> &path) {
  if (path.size() <= 4)
    return fmt::format("{}", fmt::join(path, " > "));
  return fmt::format("{} > {} > ... > {} > {}", path[0], path[1],
                     path[path.size() - 2], path.back());
}

std::string summary(const Plan &plan) {
  double products = 0, low = 0;
  std::map<std::string, int> colors;
  for (const runtime::Node &node : plan.nodes) {
    products += node.flops;
    if (node.color == "fp16" || node.color == "bf16")
      low += node.flops;
    if (!node.color.empty())
      ++colors[node.color];
  }
  std::string text = lineOf(fmt::format(
      "{}: {} for {}{}, batch {}, loss {}", plan.modelName, plan.precision,
      plan.target, plan.architecture.empty() ? "" : " " + plan.architecture,
      plan.batch, plan.loss));
  text += fmt::format("{} nodes", plan.nodes.size());
  for (const auto &[color, count] : colors)
    text += fmt::format(", {} {}", count, color);
  text += fmt::format(
      "; {} casts; {:.1f} % of the products' FLOPs in a low type\n",
      plan.casts.size(), products == 0 ? 0.0 : 100 * low / products);
  return text;
}

std::string nodeTable(const Plan &plan) {
  std::vector<std::vector<std::string>> rows{
      {"node", "op", "colour", "stored", "rule", "source", "origin", "path"}};
  for (const runtime::Node &node : plan.nodes)
    rows.push_back({node.name, node.op, node.color.empty() ? "-" : node.color,
                    node.stored, node.rule, node.source, node.origin,
                    pathText(node.path)});
  return formatTable(rows);
}

std::string parameterTable(const Plan &plan) {
  std::vector<std::vector<std::string>> rows{
      {"parameter", "role", "shape", "bytes"}};
  for (const runtime::Parameter &parameter : plan.parameters) {
    const runtime::Buffer &buffer = plan.buffers[parameter.buffer];
    rows.push_back({parameter.name, roleName(parameter.role),
                    runtime::formatShape(buffer.shape),
                    formatBytes(buffer.bytes)});
  }
  return formatTable(rows);
}

std::string castTable(const Plan &plan) {
  std::vector<std::vector<std::string>> rows{
      {"cast of", "from", "to", "read by"}};
  for (const runtime::Cast &cast : plan.casts)
    rows.push_back({cast.value, cast.from, cast.to,
                    fmt::format("{}", fmt::join(cast.consumers, ", "))});
  return formatTable(rows);
}

std::string memoryTable(const Plan &plan) {
  std::vector<std::vector<std::string>> rows{{"arena", "bytes"}};
  uint64_t total = 0;
  for (const runtime::Arena &arena : plan.arenas) {
    rows.push_back({arena.name.empty() ? arenaName(arena.kind) : arena.name,
                    formatBytes(arena.bytes)});
    total += arena.bytes;
  }
  rows.push_back({"total", formatBytes(total)});
  return formatTable(rows);
}

std::string explanation(const Plan &plan, const runtime::Node &node) {
  std::string head =
      fmt::format("{} ({}, {}): ", node.name, node.op, node.origin);
  head += node.color.empty() ? "not coloured"
                             : fmt::format("computes in {}, stores {}",
                                           node.color, node.stored);
  std::string text = lineOf(head) + lineOf("  " + ruleText(node.rule));
  text += lineOf(fmt::format("  rule {}, source {}", node.rule,
                             node.source.empty() ? "default" : node.source));
  if (!node.path.empty())
    text += lineOf(fmt::format("  path {}", fmt::join(node.path, " > ")));
  if (!node.nameSpace.empty())
    text += lineOf("  in " + node.nameSpace);
  for (const runtime::Cast &cast : plan.casts)
    if (std::find(node.inputs.begin(), node.inputs.end(), cast.value) !=
            node.inputs.end() &&
        std::find(cast.consumers.begin(), cast.consumers.end(), node.name) !=
            cast.consumers.end())
      text += lineOf(fmt::format("  reads {} through a cast from {} to {}",
                                 cast.value, cast.from, cast.to));
  return text;
}

} // namespace

std::string roleName(runtime::Parameter::Role role) {
  switch (role) {
  case runtime::Parameter::Role::Trainable:
    return "trainable";
  case runtime::Parameter::Role::Frozen:
    return "frozen";
  case runtime::Parameter::Role::Statistic:
    return "statistic";
  case runtime::Parameter::Role::Constant:
    return "constant";
  }
  return "";
}

std::string arenaName(runtime::ArenaKind kind) {
  constexpr std::string_view kNames[] = {
      "",          "parameters", "state",       "gradients",
      "constants", "inputs",     "activations", "workspace"};
  auto i = static_cast<size_t>(kind);
  return std::string(i < std::size(kNames) ? kNames[i] : "");
}

std::string formatBytes(uint64_t bytes) {
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char *unit = "";
  for (const char *next : {"KiB", "MiB", "GiB"}) {
    if (value < 1024)
      break;
    value /= 1024;
    unit = next;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string formatTable(const std::vector<std::vector<std::string>> &rows) {
  std::vector<std::vector<std::string>> cells;
  std::vector<size_t> widths;
  for (const auto &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    auto &line = cells.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      std::string cell = oneLine(row[i]);
      line.push_back(i + 1 == row.size() ? cell : shortened(cell));
      widths[i] = std::max(widths[i], shortened(cell).size());
    }
  }
  std::string text;
  for (const auto &row : cells) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line +=
          fmt::format("{:<{}}  ", row[i], i + 1 == row.size() ? 0 : widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string ruleText(const std::string &name) {
  static const std::map<std::string, std::string, std::less<>> kTexts = {
      {rule::kAllow.str(), "On the allow list: products run in the low type, "
                           "that is where the speed is."},
      {rule::kDeny.str(),
       "On the deny list: its range or its accuracy needs FP32."},
      {rule::kDenyUpstream.str(),
       "Lies behind a denied node, with no allowed node in between."},
      {rule::kConstantRange.str(), "A finite constant that it reads would "
                                   "become infinite in the low type."},
      {rule::kBetween.str(),
       "Lies between two allowed nodes: staying low saves casts."},
      {rule::kJoined.str(),
       "Only moves or selects values, and a low node is next to it."},
      {rule::kNotBetween.str(),
       "Has no allowed node on one side: going low would save no cast."},
      {rule::kNoLow.str(),
       "Only moves or selects values, and no low node is next to it."},
      {rule::kByName.str(), "Coloured by name."},
      {rule::kUntouched.str(),
       "Never coloured: no arithmetic on floats that could be narrow."},
      {rule::kPrecision.str(), "The plan has no low type."},
      {rule::kLoss.str(), "Part of the loss: always FP32."},
      {rule::kOptimizer.str(), "Part of the optimizer step: always FP32."},
      {rule::kGradient.str(),
       "Has the colour of the node that it is the gradient of."},
      {rule::kReduction.str(),
       "A sum of gradients: reads what is stored, adds up in FP32."},
      {rule::kSum.str(), "Sum of the gradients of a value with several "
                         "readers: low where all its readers are."},
      {rule::kParameterGradient.str(), "Only a parameter's gradient reads it: "
                                       "nothing is rounded on the way there."},
      {rule::kWeightGradient.str(),
       "A low product whose result is a parameter's gradient: stored in FP32."},
      {rule::kCast.str(), "A cast."},
      {rule::kPinnedCast.str(),
       "A cast of the model's own that was asked to stay."},
  };
  auto it = kTexts.find(name);
  return it == kTexts.end() ? "No rule is recorded." : it->second;
}

std::string inspectTable(const Plan &plan) {
  std::string text = summary(plan) + "\n" + nodeTable(plan);
  text += "\n" + parameterTable(plan);
  if (!plan.casts.empty())
    text += "\n" + castTable(plan);
  return text + "\n" + memoryTable(plan);
}

std::string explainNode(const Plan &plan, const std::string &name) {
  std::string exact, similar;
  for (const runtime::Node &node : plan.nodes) {
    if (node.name == name)
      exact += explanation(plan, node);
    else if (node.name.find(name) != std::string::npos)
      similar += explanation(plan, node);
  }
  return exact.empty() ? similar : exact;
}

} // namespace halftone::tools
