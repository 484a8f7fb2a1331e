// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/GraphDialect.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;
using namespace halftone::graph;

#include "compiler/graph/GraphDialect.cpp.inc"

void GraphDialect::initialize() {
  registerProgramOps();
  registerElementwiseOps();
  registerLogicOps();
  registerActivationOps();
  registerMovementOps();
  registerReductionOps();
  registerProductOps();
  registerWindowOps();
  registerNormalizationOps();
  registerLossOps();
  registerRandomOps();
}

Operation *GraphDialect::materializeConstant(OpBuilder &b, Attribute value,
                                             Type type, Location loc) {
  return b.create<ConstantOp>(loc, type, cast<ElementsAttr>(value));
}
