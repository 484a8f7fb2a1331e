// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/ColorBackward.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"
#include <map>
#include <set>

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

bool isBackward(Operation *op) { return originOf(op) == "backward"; }
bool accumulates(Operation *op) {
  return isa<ReductionOpInterface, ScatterOpInterface>(op);
}

class BackwardGraph {
public:
  BackwardGraph(ProgramOp program, Color low, const Wishes &wishes,
                Decisions &decisions)
      : program(program), low(low), wishes(wishes), decisions(decisions) {
    for (auto &[op, decision] : decisions) {
      if (originOf(op) == "loss")
        lossNodes.insert(nodeName(op));
      // The gradient of a node that computes wide reads its statistics:
      // rounding those would show in every element.
      Color color = computesWide(op) ? Color::Fp32 : decision.color;
      auto [it, inserted] = forward.try_emplace(keyOf(nodeName(op), op), color);
      // Several ops of one node: the wide one counts.
      if (!inserted && !isLow(color))
        it->second = color;
    }
  }

  void color() {
    // Readers come later in the block: they are decided first.
    for (Operation &op : llvm::reverse(program.getBody().front())) {
      if (!isColorable(&op) || decisions.contains(&op))
        continue;
      if (!isBackward(&op))
        decisions[&op] = {Color::Fp32, rule::kOptimizer, "default", {}, false};
      else
        decisions[&op] = decide(&op);
    }
  }

private:
  using Key = std::pair<std::string, int64_t>;
  static Key keyOf(const std::string &name, Operation *op) {
    return {name, static_cast<int64_t>(
                      cast<PrecisionOpInterface>(op).getPrecisionClass())};
  }

  Decision decide(Operation *op) {
    auto list = wishes.listOf(op, low);
    std::string node = gradOf(op);
    Color inherited = colorOfNode(op, list.list);
    SmallVector<std::string> path;
    if (!node.empty())
      path.push_back(node);
    bool product = isa<LibraryOpInterface>(op);
    if (list.list == PrecisionClass::Untouched)
      return {Color::Fp32, rule::kUntouched, "default", {}, false};
    if (auto pin = ownPin(op, node))
      return {pin->color,
              rule::kByName,
              pin->source,
              {},
              product && feedsParameters(op)};
    if (low == Color::Fp32 && !isLow(inherited))
      return {Color::Fp32, rule::kPrecision, "default", {}, false};
    bool parameter = feedsParameters(op);
    if (parameter)
      parameterPath.insert(op);
    if (product)
      return {inherited,
              parameter && isLow(inherited) ? rule::kWeightGradient
                                            : rule::kGradient,
              "derived", path, parameter && isLow(inherited)};
    if (accumulates(op) || generated(op) == "reduction")
      return {Color::Fp32, rule::kReduction, "default", path, false};
    if (parameter)
      return {Color::Fp32, rule::kParameterGradient, "default", path, false};
    if (list.list == PrecisionClass::Deny)
      return {Color::Fp32, rule::kDeny, list.source, path, false};
    if (lossNodes.count(node))
      return {Color::Fp32, rule::kLoss, "default", path, false};
    if (generated(op) == "sum")
      return {colorOfReaders(op, inherited), rule::kSum, "derived", path,
              false};
    return {isLow(inherited) ? inherited : Color::Fp32, rule::kGradient,
            "derived", path, false};
  }

  static std::string gradOf(Operation *op) {
    auto name = op->getAttrOfType<StringAttr>(kGradOf);
    return name ? name.getValue().str() : "";
  }
  static StringRef generated(Operation *op) {
    auto kind = op->getAttrOfType<StringAttr>(kGenerated);
    return kind ? kind.getValue() : StringRef();
  }

  /// A pattern that means the gradient alone; one that matches the node itself
  /// has coloured it already.
  std::optional<Wishes::Pin> ownPin(Operation *op, StringRef node) const {
    return wishes.pinOf(node, namespaceOf(op)) ? std::nullopt
                                               : wishes.pinOf(nodeName(op), "");
  }

  Color colorOfNode(Operation *op, PrecisionClass own) const {
    auto number = op->getAttrOfType<IntegerAttr>(kGradOfClass);
    if (number)
      if (auto it = forward.find({gradOf(op), number.getInt()});
          it != forward.end())
        return it->second;
    return own == PrecisionClass::Allow ? low : Color::Fp32;
  }

  /// Whether all readers lead to a parameter's gradient without another
  /// product: gradients are stored in f32, so that nothing is rounded on the
  /// way there.
  bool feedsParameters(Operation *op) const {
    return !op->use_empty() &&
           llvm::all_of(op->getUsers(), [&](Operation *user) {
             return originOf(user) == "optimizer" ||
                    isa<PackOp, AssignOp, OutputOp>(user) ||
                    (parameterPath.contains(user) &&
                     !isa<LibraryOpInterface>(user));
           });
  }

  /// Reductions read anything: they have no say. Without other readers the sum
  /// takes the colour of its wider gradient.
  Color colorOfReaders(Operation *op, Color inherited) const {
    std::optional<Color> color;
    for (Operation *user : op->getUsers()) {
      auto it = decisions.find(user);
      if (it == decisions.end() || it->second.rule == rule::kReduction ||
          it->second.rule == rule::kUntouched)
        continue;
      if (!isLow(it->second.color))
        return Color::Fp32;
      color = it->second.color;
    }
    return color.value_or(isLow(inherited) ? inherited : Color::Fp32);
  }

  ProgramOp program;
  Color low;
  const Wishes &wishes;
  Decisions &decisions;
  std::map<Key, Color> forward;
  std::set<std::string> lossNodes;
  llvm::DenseSet<Operation *> parameterPath;
};

} // namespace

void colorBackward(ProgramOp program, Color low, const Wishes &wishes,
                   Decisions &decisions) {
  BackwardGraph(program, low, wishes, decisions).color();
}

} // namespace halftone::passes
