// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Decompose.h"
#include "compiler/graph/Origin.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult decomposeOps(ProgramOp program,
                           function_ref<bool(Operation *)> wanted) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation &op :
         llvm::make_early_inc_range(program.getBody().front())) {
      auto composite = dyn_cast<DecomposableOpInterface>(op);
      if (!composite || !wanted(&op))
        continue;
      OriginTagger tagger(llvm::to_vector(op.getDiscardableAttrs()));
      OpBuilder builder(&op, &tagger);
      ImplicitLocOpBuilder b(op.getLoc(), builder);
      SmallVector<Value> parts = composite.decompose(b);
      if (parts.size() != op.getNumResults())
        return op.emitError("cannot be expanded into primitive operators");
      op.replaceAllUsesWith(parts);
      op.erase();
      changed = true;
    }
  }
  return success();
}

} // namespace halftone::graph
