// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/ColorForward.h"
#include "compiler/graph/Origin.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

/// How a search came to a node: not at all, as a root, or from another node.
constexpr int kUnreached = -1;

struct Node {
  Operation *op;
  PrecisionClass list;
  std::string source;
  bool pinned = false;
  SmallVector<unsigned> inputs, users;
};

class ForwardGraph {
public:
  ForwardGraph(ProgramOp program, Color low, const Wishes &wishes,
               Decisions &decisions)
      : low(low), decisions(decisions) {
    for (Operation &op : program.getBody().front())
      if (isColorable(&op) &&
          (originOf(&op) == "forward" || originOf(&op) == "loss"))
        add(&op, wishes);
  }

  void color() {
    if (isLow(low)) {
      spreadDeny();
      findBetween();
      spreadLow();
    }
    for (const Node &node : nodes)
      settle(node);
  }

private:
  void add(Operation *op, const Wishes &wishes) {
    auto [list, source] = wishes.listOf(op, low);
    Node node{op, list, source, false, {}, {}};
    unsigned index = nodes.size();
    for (Value v : op->getOperands())
      if (Operation *producer = v.getDefiningOp();
          producer && isColoredValue(v))
        if (auto it = indices.find(producer);
            it != indices.end() &&
            !llvm::is_contained(node.inputs, it->second)) {
          node.inputs.push_back(it->second);
          nodes[it->second].users.push_back(index);
        }
    if (originOf(op) == "loss") {
      node.list = PrecisionClass::Deny;
      decide(node, {Color::Fp32, rule::kLoss, "default", {}, false});
    } else if (op->hasAttr(kPinned) && isFloatCast(op)) {
      node.pinned = true;
      Type to = elementTypeOf(op->getResult(0));
      decide(node, {to.isF16()    ? Color::Fp16
                    : to.isBF16() ? Color::Bf16
                                  : Color::Fp32,
                    rule::kPinnedCast,
                    "user",
                    {},
                    false});
    } else if (auto pin = wishes.pinOf(nodeName(op), namespaceOf(op));
               pin && list != PrecisionClass::Untouched) {
      node.pinned = true;
      decide(node, {pin->color, rule::kByName, pin->source, {}, false});
    } else if (isLow(low) && list == PrecisionClass::Infer &&
               hasLargeConstant(op)) {
      node.list = PrecisionClass::Deny;
      decide(node, {Color::Fp32, rule::kConstantRange, "default", {}, false});
    }
    indices[op] = index;
    nodes.push_back(std::move(node));
  }

  /// A finite mask value such as -3.4e38 would become infinite: by its own
  /// cast, or by the sum that it is part of.
  bool hasLargeConstant(Operation *op) const {
    return llvm::any_of(op->getOperands(), [&](Value v) {
      return overflows(v, colorType(low, op->getContext()));
    });
  }

  void decide(const Node &node, Decision decision) {
    decisions.try_emplace(node.op, std::move(decision));
  }

  bool is(unsigned i, PrecisionClass list) const {
    return !nodes[i].pinned && nodes[i].list == list;
  }
  bool isDenied(unsigned i) const {
    return is(i, PrecisionClass::Deny) || denied[i] != kUnreached;
  }
  bool isLowNode(unsigned i) const {
    if (nodes[i].pinned)
      return isLow(decisions.find(nodes[i].op)->second.color);
    return nodes[i].list == PrecisionClass::Allow || painted.contains(i);
  }

  /// Breadth-first search from the nodes that `isRoot`, along users and inputs
  /// as asked, into nodes that `mayEnter`. Gives for each node the one it was
  /// reached from (roots: themselves).
  std::vector<int> search(bool alongUsers, bool alongInputs,
                          function_ref<bool(unsigned)> isRoot,
                          function_ref<bool(unsigned)> mayEnter) {
    std::vector<int> from(nodes.size(), kUnreached);
    std::vector<unsigned> queue;
    for (unsigned i = 0; i < nodes.size(); ++i)
      if (isRoot(i)) {
        from[i] = static_cast<int>(i);
        queue.push_back(i);
      }
    for (size_t head = 0; head < queue.size(); ++head) {
      unsigned at = queue[head];
      auto visit = [&](ArrayRef<unsigned> neighbours) {
        for (unsigned next : neighbours)
          if (from[next] == kUnreached && mayEnter(next)) {
            from[next] = static_cast<int>(at);
            queue.push_back(next);
          }
      };
      if (alongUsers)
        visit(nodes[at].users);
      if (alongInputs)
        visit(nodes[at].inputs);
    }
    return from;
  }

  void spreadDeny() {
    denied.assign(nodes.size(), kUnreached);
    auto denyOrInfer = [&](unsigned i) {
      return is(i, PrecisionClass::Deny) || is(i, PrecisionClass::Infer);
    };
    std::vector<int> before = search(false, true, denyOrInfer, [&](unsigned i) {
      return is(i, PrecisionClass::Clear);
    });
    denied = search(
        true, false, [&](unsigned i) { return is(i, PrecisionClass::Deny); },
        [&](unsigned i) {
          return before[i] != kUnreached && !is(i, PrecisionClass::Deny);
        });
    for (unsigned i = 0; i < nodes.size(); ++i)
      if (denied[i] != kUnreached && !is(i, PrecisionClass::Deny))
        decide(nodes[i], {Color::Fp32, rule::kDenyUpstream, "derived",
                          pathTo(denied, i), false});
  }

  void findBetween() {
    auto allow = [&](unsigned i) { return isLowNode(i); };
    auto free = [&](unsigned i) {
      return !isDenied(i) &&
             (is(i, PrecisionClass::Infer) || is(i, PrecisionClass::Clear));
    };
    std::vector<int> behind = search(true, false, allow, free);
    std::vector<int> before = search(false, true, allow, [&](unsigned i) {
      return free(i) && behind[i] != kUnreached;
    });
    for (unsigned i = 0; i < nodes.size(); ++i)
      if (free(i) && before[i] != kUnreached)
        decide(nodes[i], {low,
                          rule::kBetween,
                          "derived",
                          {rootName(behind, i), rootName(before, i)},
                          false});
    for (unsigned i = 0; i < nodes.size(); ++i)
      if (free(i) && before[i] != kUnreached)
        painted.insert(i);
  }

  void spreadLow() {
    std::vector<int> joined = search(
        true, true, [&](unsigned i) { return isLowNode(i); },
        [&](unsigned i) {
          return is(i, PrecisionClass::Clear) && !isDenied(i);
        });
    for (unsigned i = 0; i < nodes.size(); ++i)
      if (joined[i] != kUnreached && joined[i] != static_cast<int>(i))
        decide(nodes[i],
               {low, rule::kJoined, "derived", pathTo(joined, i), false});
  }

  /// What no flow decided.
  void settle(const Node &node) {
    switch (node.list) {
    case PrecisionClass::Allow:
      decide(node, low == Color::Fp32
                       ? Decision{low, rule::kPrecision, "default", {}, false}
                       : Decision{low, rule::kAllow, node.source, {}, false});
      return;
    case PrecisionClass::Untouched:
      return decide(node,
                    {Color::Fp32, rule::kUntouched, node.source, {}, false});
    default:
      break;
    }
    if (!isLow(low))
      return decide(node,
                    {Color::Fp32, rule::kPrecision, "default", {}, false});
    if (node.list == PrecisionClass::Infer)
      return decide(node,
                    {Color::Fp32, rule::kNotBetween, node.source, {}, false});
    if (node.list == PrecisionClass::Clear)
      return decide(node, {Color::Fp32, rule::kNoLow, node.source, {}, false});
    decide(node, {Color::Fp32, rule::kDeny, node.source, {}, false});
  }

  /// Names from the root of the search down to the node before `i`.
  SmallVector<std::string> pathTo(const std::vector<int> &from,
                                  unsigned i) const {
    SmallVector<std::string> path;
    while (from[i] != static_cast<int>(i)) {
      i = static_cast<unsigned>(from[i]);
      path.push_back(nodeName(nodes[i].op));
    }
    std::reverse(path.begin(), path.end());
    return path;
  }
  std::string rootName(const std::vector<int> &from, unsigned i) const {
    while (from[i] != static_cast<int>(i))
      i = static_cast<unsigned>(from[i]);
    return nodeName(nodes[i].op);
  }

  Color low;
  Decisions &decisions;
  std::vector<Node> nodes;
  llvm::DenseMap<Operation *, unsigned> indices;
  std::vector<int> denied;
  llvm::DenseSet<unsigned> painted;
};

} // namespace

void colorForward(ProgramOp program, Color low, const Wishes &wishes,
                  Decisions &decisions) {
  ForwardGraph(program, low, wishes, decisions).color();
}

} // namespace halftone::passes
