// SPDX-License-Identifier: Apache-2.0
#include "passes/autodiff/OriginTagger.h"

using namespace mlir;

namespace halftone::passes {

std::string nodeName(Operation *op) {
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    return name.getName().str();
  return op->getName().stripDialect().str();
}

} // namespace halftone::passes
