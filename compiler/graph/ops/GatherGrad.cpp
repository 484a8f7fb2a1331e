// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult GatherGradOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto dy = cast<RankedTensorType>(adaptor.getDy().getType());
  if (dy.getRank() != 2 ||
      shapeOf(adaptor.getIndices()) != dy.getShape().take_front(1))
    return emitOptionalError(location,
                             "needs n row numbers and [n, width] rows, got ",
                             adaptor.getIndices().getType(), " and ", dy);
  types.push_back(RankedTensorType::get({adaptor.getRows(), dy.getDimSize(1)},
                                        dy.getElementType()));
  return success();
}

LogicalResult GatherGradOp::evaluate(ArrayRef<HostTensor> operands,
                                     SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(*this);
  int64_t width = out.getShape()[1];
  for (auto [n, number] : llvm::enumerate(operands[0].ints)) {
    std::optional<int64_t> row = axisIndex(number, getRows());
    if (!row)
      return emitOpError("row ")
             << number << " lies outside " << getRows() << " rows";
    for (int64_t c = 0; c < width; ++c)
      out.floats[*row * width + c] += operands[1].floats[n * width + c];
  }
  results.push_back(std::move(out));
  return success();
}

unsigned GatherGradOp::getIndicesOperand() { return 0; }
unsigned GatherGradOp::getUpdatesOperand() { return 1; }

} // namespace halftone::graph
