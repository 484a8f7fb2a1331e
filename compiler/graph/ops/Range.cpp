// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/WrappingInteger.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult RangeOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  std::optional<double> numbers[3];
  for (auto [number, operand] :
       llvm::zip_equal(numbers, adaptor.getOperands())) {
    number = splatValue(operand);
    if (!number || elementTypeOf(operand) != elementTypeOf(adaptor.getStart()))
      return emitOptionalError(location,
                               "start, limit and delta must be constants of "
                               "one number and one type");
  }
  auto [start, limit, delta] =
      std::tuple(*numbers[0], *numbers[1], *numbers[2]);
  if (delta == 0)
    return emitOptionalError(location, "delta must not be 0");
  auto count =
      static_cast<int64_t>(std::max(0.0, std::ceil((limit - start) / delta)));
  types.push_back(
      RankedTensorType::get({count}, elementTypeOf(adaptor.getStart())));
  return success();
}

LogicalResult RangeOp::evaluate(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(*this);
  for (int64_t i = 0; i < out.size(); ++i) {
    if (out.isFloat())
      out.floats[i] = operands[0].floats[0] +
                      static_cast<double>(i) * operands[2].floats[0];
    else
      out.ints[i] =
          wrappingAdd(operands[0].ints[0], wrappingMul(i, operands[2].ints[0]));
  }
  results.push_back(std::move(out));
  return success();
}

Value RangeOp::emitElement(ElementBuilder &b, unsigned, ValueRange index) {
  auto first = [&](unsigned operand) {
    return b.load(operand, SmallVector<Value>(rankOf(getOperand(operand)),
                                              b.constantIndex(0)));
  };
  Value start = first(0);
  return b.add(start, b.mul(b.convert(index[0], start.getType()), first(2)));
}

} // namespace halftone::graph
