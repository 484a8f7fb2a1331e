// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Cleanup.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <map>

using namespace mlir;

namespace halftone::graph {

void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isPure(&op) && op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
}

void mergeEqualOps(Block &block) {
  using Key =
      std::tuple<const void *, llvm::hash_code, SmallVector<const void *>>;
  std::map<Key, SmallVector<Operation *>> seen;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isPure(&op) || op.getNumRegions() || op.getNumResults() == 0)
      continue;
    SmallVector<const void *> operands;
    for (Value v : op.getOperands())
      operands.push_back(v.getAsOpaquePointer());
    Attribute properties = op.getPropertiesAsAttribute();
    auto &candidates = seen[{op.getName().getAsOpaquePointer(),
                             hash_value(properties), operands}];
    bool merged = false;
    for (Operation *other : candidates)
      if (other->getPropertiesAsAttribute() == properties &&
          other->getResultTypes() == op.getResultTypes()) {
        op.replaceAllUsesWith(other);
        op.erase();
        merged = true;
        break;
      }
    if (!merged)
      candidates.push_back(&op);
  }
}

LogicalResult cleanUp(ProgramOp program,
                      function_ref<void(RewritePatternSet &)> extra) {
  MLIRContext *context = program.getContext();
  RewritePatternSet patterns(context);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == "graph")
      name.getCanonicalizationPatterns(patterns, context);
  if (extra)
    extra(patterns);
  GreedyRewriteConfig config;
  config.useTopDownTraversal = true;
  config.maxIterations = GreedyRewriteConfig::kNoLimit;
  if (failed(
          applyPatternsAndFoldGreedily(program, std::move(patterns), config)))
    return program.emitError("canonicalization does not come to an end");
  mergeEqualOps(program.getBody().front());
  eraseDeadOps(program.getBody().front());
  return success();
}

} // namespace halftone::graph
