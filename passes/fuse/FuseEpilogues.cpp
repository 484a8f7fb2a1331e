// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/FuseEpilogues.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {

void fuseEpilogues(ProgramOp program) {
  Block &block = program.getBody().front();
  auto at = block.begin();
  while (at != block.end()) {
    Operation *op = &*at++;
    auto library = dyn_cast<LibraryOpInterface>(op);
    if (!library || op->getNumResults() != 1 || !op->getResult(0).hasOneUse())
      continue;
    Operation *next = *op->getResult(0).user_begin();
    OriginTagger tagger(llvm::to_vector(op->getDiscardableAttrs()));
    OpBuilder builder(next, &tagger);
    ImplicitLocOpBuilder b(op->getLoc(), builder);
    Value both = library.buildWithEpilogue(b, next);
    if (!both)
      continue;
    next->getResult(0).replaceAllUsesWith(both);
    if (at == next->getIterator())
      ++at;
    next->erase();
    op->erase();
  }
}

} // namespace halftone::passes
