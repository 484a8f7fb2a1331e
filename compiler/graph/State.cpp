// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/State.h"
#include "compiler/graph/Origin.h"

using namespace mlir;

namespace halftone::graph {

Value getOrCreateState(ProgramOp program, StringRef name, RankedTensorType type,
                       double init) {
  Block &block = program.getBody().front();
  for (StateOp state : block.getOps<StateOp>())
    if (state.getName() == name)
      return state.getValue();
  OpBuilder b = OpBuilder::atBlockBegin(&block);
  auto seed = RankedTensorType::get({}, type.getElementType());
  Attribute value =
      isa<FloatType>(type.getElementType())
          ? Attribute(b.getFloatAttr(type.getElementType(), init))
          : Attribute(b.getIntegerAttr(type.getElementType(),
                                       static_cast<int64_t>(init)));
  auto op = b.create<StateOp>(NameLoc::get(b.getStringAttr(name)), type,
                              b.getStringAttr(name),
                              DenseElementsAttr::get(seed, value));
  op->setAttr(kOrigin, b.getStringAttr("optimizer"));
  return op.getValue();
}

} // namespace halftone::graph
