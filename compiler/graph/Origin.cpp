// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Origin.h"

using namespace mlir;

namespace halftone::graph {

std::string nodeName(Operation *op) {
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    return name.getName().str();
  return op->getName().stripDialect().str();
}

} // namespace halftone::graph
