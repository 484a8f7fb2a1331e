// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Movement.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult OneHotOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  std::optional<double> depth = splatValue(adaptor.getDepth());
  int64_t axis = adaptor.getAxis(), rank = indices.getRank() + 1;
  if (!depth || *depth < 1 || numElements(shapeOf(adaptor.getValues())) != 2 ||
      failed(normalizeAxis(axis, rank)))
    return emitOptionalError(
        location, "needs a constant depth, two values and an axis of rank ",
        rank);
  SmallVector<int64_t> shape(indices.getShape());
  shape.insert(shape.begin() + *normalizeAxis(axis, rank),
               static_cast<int64_t>(*depth));
  types.push_back(
      RankedTensorType::get(shape, elementTypeOf(adaptor.getValues())));
  return success();
}

LogicalResult OneHotOp::evaluate(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getResult())),
          depth = shapeOf(getResult())[axis];
  return evaluateMove(
      *this, operands[2], results, [&](ArrayRef<int64_t> index) -> int64_t {
        SmallVector<int64_t> at(index);
        at.erase(at.begin() + axis);
        int64_t number =
            operands[0].asInt(broadcastOffset(at, operands[0].getShape()));
        return index[axis] == axisIndex(number, depth) ? 1 : 0;
      });
}

Value OneHotOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getResult())),
          depth = shapeOf(getResult())[axis];
  SmallVector<Value> at(index);
  at.erase(at.begin() + axis);
  Type i64 = b.b.getI64Type();
  Value number = b.convert(b.load(0, at), i64),
        place = b.convert(index[axis], i64);
  Value fromEnd = b.sub(place, b.constantInt(depth, i64));
  Value hot = b.ori(b.compare(Compare::Equal, number, place),
                    b.compare(Compare::Equal, number, fromEnd));
  return b.select(hot, b.load(2, b.constantIndex(1)),
                  b.load(2, b.constantIndex(0)));
}

} // namespace halftone::graph
