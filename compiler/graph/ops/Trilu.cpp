// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult TriluOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  if (rankOf(adaptor.getInput()) < 2)
    return emitOptionalError(location, "needs rank 2 or more, got ",
                             adaptor.getInput().getType());
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult TriluOp::evaluate(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  return evaluateMove(
      *this, operands[0], results, [&](ArrayRef<int64_t> index) -> int64_t {
        int64_t diagonal = index[index.size() - 1] - index[index.size() - 2];
        bool kept = getUpper() ? diagonal >= getK() : diagonal <= getK();
        return kept ? broadcastOffset(index, operands[0].getShape()) : -1;
      });
}

Value TriluOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  // Signed: indices compare unsigned, a diagonal may be negative.
  Type i64 = b.b.getI64Type();
  Value diagonal = b.sub(b.convert(index.back(), i64),
                         b.convert(index[index.size() - 2], i64));
  Value kept =
      b.compare(getUpper() ? Compare::GreaterOrEqual : Compare::LessOrEqual,
                diagonal, b.constantInt(getK(), i64));
  return b.select(kept, b.load(0, index),
                  emitZero(b, elementTypeOf(getResult())));
}

SmallVector<Value> TriluOp::buildVjp(ImplicitLocOpBuilder &b,
                                     ValueRange grads) {
  return {b.create<TriluOp>(grads[0], getK(), getUpper())};
}

} // namespace halftone::graph
