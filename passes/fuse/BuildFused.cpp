// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/BuildFused.h"
#include "compiler/graph/Constants.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/fuse/CheapOps.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

// Chains of index maps are computed again up to this length.
constexpr int kMaxInlineDepth = 6;

/// Whether a consumer kernel computes `op` itself instead of reading its
/// result: single-valued constants always, index maps and what else saves
/// memory traffic where no library needs them in memory anyway.
bool isInlined(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return splatValue(constant.getValue()).has_value();
  if (isa<ReshapeOp>(op) ||
      (fusionKind(op) != FusionKind::Move && !isCheaperThanItsResult(op)))
    return false;
  // What turns a window's results is part of the window's kernel.
  if (auto turn = dyn_cast<TransposeOp>(op);
      turn && turn.getData().getDefiningOp() &&
      fusionKind(turn.getData().getDefiningOp()) == FusionKind::Window)
    return false;
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<FusedOp>(user) || fusionKind(user) != FusionKind::None;
  });
}

/// Clones ops into a kernel's body, collecting what it reads from memory.
class BodyBuilder {
public:
  BodyBuilder(FusedOp fused, const FusionPlan &plan, bool inlineMaps)
      : plan(plan), body(fused.getBody().front()),
        b(OpBuilder::atBlockEnd(&body)), inlineMaps(inlineMaps) {}

  void clone(Operation *op, int depth = 0) {
    for (Value operand : op->getOperands())
      import(operand, depth);
    b.clone(*op, mapping);
  }
  Value lookup(Value v) { return mapping.lookup(v); }
  llvm::SetVector<Value> inputs;

private:
  void import(Value v, int depth) {
    if (mapping.contains(v))
      return;
    Operation *producer = v.getDefiningOp();
    if (producer && isInlined(producer) && mayCompute(producer, depth))
      return clone(producer, depth + 1);
    inputs.insert(v);
    mapping.map(v, body.addArgument(v.getType(), v.getLoc()));
  }

  /// Whether what an inlined op reads can be had here.
  bool mayCompute(Operation *op, int depth) {
    if (isa<ConstantOp>(op))
      return true;
    return inlineMaps && depth < kMaxInlineDepth &&
           llvm::all_of(
               op->getOperands(), [&](Value v) { return plan.mayStore(v); });
  }

  const FusionPlan &plan;
  Block &body;
  OpBuilder b;
  IRMapping mapping;
  bool inlineMaps;
};

StringRef scheduleName(const FusionGroup &group) {
  return group.scatter         ? "scatter"
         : group.isReduction() ? "reduction"
                               : "pointwise";
}

/// Locations of all members, so that reports name every node in the kernel.
Location jointLocation(ArrayRef<Operation *> members) {
  SmallVector<Location> locations;
  for (Operation *op : members)
    if (!llvm::is_contained(locations, op->getLoc()))
      locations.push_back(op->getLoc());
  return FusedLoc::get(members.front()->getContext(), locations);
}

/// In program order, after erasing those that nobody uses (any more).
SmallVector<Operation *> usedMembers(FusionGroup &group) {
  SmallVector<Operation *> members(group.ops.begin(), group.ops.end());
  llvm::sort(members,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  const SmallVector<Operation *> candidates = members;
  for (Operation *op : llvm::reverse(candidates))
    if (op->use_empty()) {
      llvm::erase(members, op);
      group.ops.remove(op);
      op->erase();
    }
  return members;
}

/// Results that are used outside the group.
SmallVector<Value> outputsOf(const FusionGroup &group,
                             ArrayRef<Operation *> members) {
  SmallVector<Value> outputs;
  for (Operation *op : members)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !group.ops.contains(user);
          }))
        outputs.push_back(result);
  return outputs;
}

} // namespace

LogicalResult buildFused(FusionGroup &group, const FusionPlan &plan,
                         bool inlineMaps) {
  SmallVector<Operation *> members = usedMembers(group);
  if (members.empty())
    return success();
  SmallVector<Value> outputs = outputsOf(group, members);
  OpBuilder b(members.back());
  SmallVector<Type> types = llvm::to_vector(ValueRange(outputs).getTypes());
  auto fused = b.create<FusedOp>(jointLocation(members), types, ValueRange{},
                                 b.getStringAttr(scheduleName(group)));
  fused.getBody().emplaceBlock();
  BodyBuilder body(fused, plan, inlineMaps);
  for (Operation *op : members)
    body.clone(op);
  SmallVector<Value> yields;
  for (Value output : outputs)
    yields.push_back(body.lookup(output));
  OpBuilder::atBlockEnd(&fused.getBody().front())
      .create<YieldOp>(fused.getLoc(), yields);
  fused.getInputsMutable().assign(body.inputs.getArrayRef());
  if (group.isReduction()) {
    fused->setAttr("domain", b.getDenseI64ArrayAttr(group.domain));
    fused->setAttr("reduced", b.getDenseI64ArrayAttr(group.reduced));
  }
  if (Attribute origin = members.back()->getAttr("origin"))
    fused->setAttr("origin", origin);
  for (auto [output, result] : llvm::zip_equal(outputs, fused.getOutputs()))
    output.replaceAllUsesWith(result);
  // The members' own uses of each other were replaced as well; they go away
  // together.
  for (Operation *op : members)
    op->dropAllReferences();
  for (Operation *op : members)
    op->erase();
  return success();
}

} // namespace halftone::passes
