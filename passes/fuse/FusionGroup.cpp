// SPDX-License-Identifier: Apache-2.0
// Greedy, in program order: an op joins the group of a producer where the
// kernel's loop stays the same.
#include "passes/fuse/FusionGroup.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

// Larger kernels do not save traffic any more but cost compile time and
// registers.
constexpr size_t kMaxOps = 96;

SmallVector<int64_t> rowShape(ArrayRef<int64_t> domain,
                              ArrayRef<int64_t> reduced) {
  SmallVector<int64_t> shape(domain);
  for (int64_t axis : reduced)
    shape[axis] = 1;
  return shape;
}

/// The innermost axis with more than one element is reduced: a row lies
/// together in memory and stays in cache over several passes.
bool reducesInnermost(ArrayRef<int64_t> domain, ArrayRef<int64_t> reduced) {
  for (int64_t d = static_cast<int64_t>(domain.size()) - 1; d >= 0; --d)
    if (domain[d] != 1)
      return llvm::is_contained(reduced, d);
  return true;
}

bool isOptimizer(Operation *op) {
  auto origin = op->getAttrOfType<StringAttr>(kOrigin);
  return origin && origin.getValue() == "optimizer";
}

SmallVector<Operation *> producers(Operation *op) {
  SmallVector<Operation *> list;
  for (Value v : op->getOperands())
    if (Operation *producer = v.getDefiningOp())
      list.push_back(producer);
  return list;
}

} // namespace

FusionKind fusionKind(Operation *op) {
  // A reshape of something in memory is a view; it is fused only where a group
  // pulls it in.
  if (isa<ReshapeOp>(op))
    return FusionKind::Move;
  if (isa<ScatterOpInterface>(op))
    return FusionKind::Scatter;
  if (isa<ReductionOpInterface>(op))
    return FusionKind::Reduction;
  if (auto element = dyn_cast<ElementOpInterface>(op))
    return element.isIndexMap() ? FusionKind::Move : FusionKind::Window;
  return isa<ScalarOpInterface>(op) ? FusionKind::Pointwise : FusionKind::None;
}

bool readsOnce(Operation *op) {
  int64_t read = 0;
  for (Value v : op->getOperands()) {
    // Integer operands are indices: data decide how often an element is read.
    if (!isa<FloatType>(elementTypeOf(v)) && op->getNumOperands() > 1)
      return false;
    read += numElements(shapeOf(v));
  }
  int64_t written = 0;
  for (Value v : op->getResults())
    written = std::max(written, numElements(shapeOf(v)));
  return written <= read;
}

FusionPlan::FusionPlan(Block &block, bool join) : join(join) {
  for (Operation &op : block) {
    place(&op);
    FusionGroup *group = groupOf(&op);
    KernelGraph::Node node = group ? group->node : graph.addNode();
    nodes[&op] = node;
    for (Operation *producer : producers(&op))
      graph.addEdge(nodes.lookup(producer), node);
  }
}

bool FusionPlan::mayStore(Value v) const {
  // A kernel that is built already has what its readers asked for.
  Operation *op = v.getDefiningOp();
  FusionGroup *group = op && !isa<FusedOp>(op) ? groupOf(op) : nullptr;
  if (!group || !group->isReduction())
    return true;
  ArrayRef<int64_t> shape = shapeOf(v);
  return shape == ArrayRef<int64_t>(group->domain) ||
         shape == ArrayRef<int64_t>(rowShape(group->domain, group->reduced));
}

std::vector<FusionGroup *> FusionPlan::groups() const {
  std::vector<FusionGroup *> list;
  for (const auto &group : all)
    if (!group->ops.empty())
      list.push_back(group.get());
  return list;
}

void FusionPlan::add(Operation *op, FusionKind kind, FusionGroup &group) {
  if (kind == FusionKind::Reduction) {
    auto reduction = cast<ReductionOpInterface>(op);
    group.domain = SmallVector<int64_t>(shapeOf(op->getOperand(0)));
    group.reduced = reduction.getReducedAxes();
  } else if (!group.isReduction()) {
    group.domain = SmallVector<int64_t>(shapeOf(op->getResult(0)));
  }
  group.scatter |= kind == FusionKind::Scatter;
  group.window |= kind == FusionKind::Window;
  if (auto turn = dyn_cast<TransposeOp>(op);
      turn && group.window && !group.turn)
    group.turn = turn;
  group.optimizer = isOptimizer(op);
  group.ops.insert(op);
  membership[op] = &group;
}

void FusionPlan::place(Operation *op) {
  FusionKind kind = fusionKind(op);
  if (kind == FusionKind::None)
    return;
  if (join && kind != FusionKind::Scatter && kind != FusionKind::Window)
    for (Operation *producer : producers(op))
      if (FusionGroup *group = groupOf(producer);
          group && canJoin(op, kind, *group) && !wouldCycle(op, *group))
        return add(op, kind, *group);
  all.push_back(std::make_unique<FusionGroup>());
  all.back()->node = graph.addNode();
  add(op, kind, *all.back());
}

bool FusionPlan::canJoin(Operation *op, FusionKind kind,
                         const FusionGroup &group) const {
  if (group.scatter || group.ops.size() >= kMaxOps ||
      group.optimizer != isOptimizer(op))
    return false;
  ArrayRef<int64_t> domain = group.domain;
  if (kind == FusionKind::Reduction) {
    SmallVector<int64_t> axes = cast<ReductionOpInterface>(op).getReducedAxes();
    if (shapeOf(op->getOperand(0)) != domain || axes.empty())
      return false;
    if (group.isReduction())
      return axes == group.reduced;
    // Each pass over a row computes its inputs again: fine in cache, not fine
    // for windows and moves over the whole tensor. A column reduction joins
    // only what nobody else needs, or the other values would be computed and
    // stored in its unfavourable order.
    return !group.window &&
           (reducesInnermost(domain, axes) || isUsedOnlyBy(group, op));
  }
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  if (auto turn = dyn_cast<TransposeOp>(op); turn && group.window)
    return mayTurn(group, turn);
  if (kind == FusionKind::Move) {
    // The domain becomes the map's result, so that everything so far must serve
    // the map alone.
    return !group.isReduction() && !group.window && op->getNumResults() == 1 &&
           readsOnce(op) && isUsedOnlyBy(group, op);
  }
  if (!group.isReduction())
    return shape == domain;
  return shape == domain ||
         shape == ArrayRef<int64_t>(rowShape(domain, group.reduced));
}

bool FusionPlan::isUsedOnlyBy(const FusionGroup &group, Operation *op) const {
  for (Operation *member : group.ops)
    for (Operation *user : member->getUsers())
      if (user != op && !group.ops.contains(user))
        return false;
  return true;
}

/// All results of a window may be turned together: the kernel's loop runs along
/// the axes as they are stored.
bool FusionPlan::mayTurn(const FusionGroup &group, TransposeOp op) const {
  TransposeOp turned = group.turn;
  auto isSame = [&](Operation *other) {
    auto turn = dyn_cast<TransposeOp>(other);
    return turn && turn.getPerm() == op.getPerm();
  };
  if (turned)
    return isSame(turned) && shapeOf(op) == ArrayRef(group.domain) &&
           op.getData().getDefiningOp() == turned.getData().getDefiningOp();
  return llvm::all_of(group.ops, [&](Operation *member) {
    return llvm::all_of(member->getUsers(), [&](Operation *user) {
      return group.ops.contains(user) || isSame(user);
    });
  });
}

bool FusionPlan::wouldCycle(Operation *op, const FusionGroup &group) {
  SmallVector<KernelGraph::Node> others;
  for (Operation *producer : producers(op))
    if (groupOf(producer) != &group)
      others.push_back(nodes.lookup(producer));
  return graph.mayReach(group.node, others);
}

} // namespace halftone::passes
