// SPDX-License-Identifier: Apache-2.0
// The ops that frame a program.
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphDialect.h"

using namespace mlir;

namespace halftone::graph {

void ProgramOp::build(OpBuilder &b, OperationState &state, StringRef name) {
  state.addAttribute(getSymNameAttrName(state.name), b.getStringAttr(name));
  state.addRegion()->emplaceBlock();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantOp::evaluate(ArrayRef<HostTensor>,
                                   SmallVectorImpl<HostTensor> &results) {
  auto tensor = HostTensor::fromAttr(getValue());
  if (!tensor)
    return emitOpError("holds no dense numbers");
  results.push_back(std::move(*tensor));
  return success();
}

LogicalResult PackOp::verify() {
  if (getOffsets().size() != getParts().size())
    return emitOpError("has ") << getParts().size() << " parts but "
                               << getOffsets().size() << " offsets";
  int64_t end = 0,
          total = cast<RankedTensorType>(getFlat().getType()).getNumElements();
  for (auto [part, offset] : llvm::zip_equal(getParts(), getOffsets())) {
    if (offset < end || offset + numElements(shapeOf(part)) > total)
      return emitOpError("offset ")
             << offset << " overlaps its neighbour or leaves the result of "
             << total << " elements";
    end = offset + numElements(shapeOf(part));
  }
  return success();
}

LogicalResult PackOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  HostTensor flat = resultTensor(*this);
  for (auto [part, offset] : llvm::zip_equal(operands, getOffsets()))
    for (int64_t i = 0; i < part.size(); ++i)
      flat.set(offset + i, part.asDouble(i));
  results.push_back(std::move(flat));
  return success();
}

} // namespace halftone::graph
