// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/FuseGroups.h"
#include "compiler/graph/Cleanup.h"
#include "compiler/graph/GraphOps.h"
#include "passes/fuse/BuildFused.h"
#include "passes/fuse/FusionGroup.h"
#include "passes/fuse/OrderKernels.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

/// Reshapes at the rim of a group are views outside of it: of an operand that
/// lies in memory, or of a result.
void dropRimReshapes(FusionGroup &group) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation *op : llvm::to_vector(group.ops)) {
      if (!isa<ReshapeOp>(op))
        continue;
      Operation *source = op->getOperand(0).getDefiningOp();
      bool first = !source || !group.ops.contains(source);
      bool last = llvm::none_of(op->getUsers(), [&](Operation *user) {
        return group.ops.contains(user);
      });
      if (first || last) {
        group.ops.remove(op);
        changed = true;
      }
    }
  }
}

} // namespace

LogicalResult fuseGroups(ProgramOp program, const FuseOptions &options) {
  Block &block = program.getBody().front();
  FusionPlan plan(block, options.fuse);
  std::vector<FusionGroup *> groups = plan.groups();
  // Consumers first: what they compute again themselves may leave a producer
  // without users.
  for (FusionGroup *group : llvm::reverse(groups)) {
    dropRimReshapes(*group);
    if (failed(buildFused(*group, plan, options.fuse)))
      return failure();
  }
  if (failed(orderKernels(block)))
    return program.emitError("fusion made a cycle of kernels");
  eraseDeadOps(block);
  return success();
}

} // namespace halftone::passes
