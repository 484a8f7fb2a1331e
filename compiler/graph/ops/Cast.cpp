// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {
namespace {

/// Keeps as many low bits as the integer type has.
int64_t wrap(int64_t value, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  APInt narrow(bits, static_cast<uint64_t>(value));
  return type.isUnsignedInteger() ? static_cast<int64_t>(narrow.getZExtValue())
                                  : narrow.getSExtValue();
}

/// Whether `to` holds every value of `from`.
bool widens(Type from, Type to) {
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return to.isF64() || (to.isF32() && !from.isF64());
  return from.isSignlessInteger() && to.isSignlessInteger() &&
         to.getIntOrFloatBitWidth() >= from.getIntOrFloatBitWidth();
}

} // namespace

LogicalResult CastOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(
      RankedTensorType::get(shapeOf(adaptor.getInput()), adaptor.getTo()));
  return success();
}

LogicalResult CastOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(*this);
  for (int64_t i = 0; i < out.size(); ++i) {
    if (out.isFloat())
      out.floats[i] = operands[0].asDouble(i);
    else if (out.getElementType().isInteger(1))
      out.ints[i] = operands[0].isFloat() ? operands[0].floats[i] != 0
                                          : operands[0].ints[i] != 0;
    else
      out.ints[i] = wrap(operands[0].asInt(i), out.getElementType());
  }
  results.push_back(std::move(out));
  return success();
}

// Kernels compute in f32 whatever the float type: between floats nothing is
// left to do here, the store rounds.
Value CastOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Type to = elementTypeOf(getOutput());
  return b.convert(x[0], isa<FloatType>(to) ? b.b.getF32Type() : to);
}

SmallVector<Value> CastOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  if (!isa<FloatType>(elementTypeOf(getInput())) ||
      !isa<FloatType>(elementTypeOf(getOutput())))
    return {Value()};
  return {b.createOrFold<CastOp>(grads[0], elementTypeOf(getInput()))};
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  // A wider type in between loses nothing.
  auto inner = getInput().getDefiningOp<CastOp>();
  if (inner && inner.getInput().getType() == getType() &&
      widens(elementTypeOf(inner.getInput()), elementTypeOf(getInput())))
    return inner.getInput();
  return {};
}

} // namespace halftone::graph
