// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/PhiloxBits.h"

using namespace mlir;

namespace halftone::graph {
namespace {

/// An element is dropped where its 32 random bits are below `threshold`.
struct DropRule {
  uint64_t threshold;
  double scale; ///< rounded to f32, as kernels have it
};

DropRule dropRule(double ratio) {
  auto threshold = static_cast<uint64_t>(std::llround(std::ldexp(ratio, 32)));
  return {threshold, ratio < 1 ? static_cast<float>(1 / (1 - ratio)) : 0};
}

} // namespace

LogicalResult DropoutMaskOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  double ratio = adaptor.getRatio().convertToDouble();
  if (!(ratio >= 0 && ratio <= 1))
    return emitOptionalError(location, "ratio ", ratio, " lies outside [0, 1]");
  if (numElements(shapeOf(adaptor.getSeed())) != 1 ||
      numElements(shapeOf(adaptor.getStep())) != 1)
    return emitOptionalError(location,
                             "seed and step must be one integer each");
  if (numElements(adaptor.getShape()) > (int64_t(1) << 32))
    return emitOptionalError(location, "has more than 2^32 elements");
  types.push_back(
      RankedTensorType::get(adaptor.getShape(), Float32Type::get(context)));
  return success();
}

LogicalResult DropoutMaskOp::evaluate(ArrayRef<HostTensor> operands,
                                      SmallVectorImpl<HostTensor> &results) {
  HostTensor out = resultTensor(*this);
  auto seed = static_cast<uint64_t>(operands[0].ints[0]),
       step = static_cast<uint64_t>(operands[1].ints[0]);
  std::array<uint32_t, 2> key = {uint32_t(seed), uint32_t(seed >> 32)};
  DropRule rule = dropRule(getRatio().convertToDouble());
  for (int64_t i = 0; i < out.size(); ++i) {
    uint32_t word = philoxWord(
        {uint32_t(i), 0, uint32_t(getNodeId()), uint32_t(step)}, key);
    out.floats[i] = word >= rule.threshold ? rule.scale : 0;
  }
  results.push_back(std::move(out));
  return success();
}

Value DropoutMaskOp::emitElement(ElementBuilder &b, unsigned,
                                 ValueRange index) {
  DropRule rule = dropRule(getRatio().convertToDouble());
  if (rule.threshold > std::numeric_limits<uint32_t>::max())
    return b.constant(0);
  Type i32 = b.b.getI32Type(), i64 = b.b.getI64Type();
  auto one = [&](unsigned operand) {
    SmallVector<Value> first(rankOf(getOperand(operand)), b.constantIndex(0));
    return b.convert(b.load(operand, first), i64);
  };
  Value seed = one(0);
  Value high = b.b.create<arith::ShRUIOp>(seed, b.constantInt(32, i64));
  Value element = b.convert(b.linearize(index, getShape()), i32);
  Value node = b.constantInt(static_cast<int32_t>(getNodeId()), i32);
  Value word = emitPhiloxWord(
      b, {element, b.constantInt(0, i32), node, b.convert(one(1), i32)},
      {b.convert(seed, i32), b.convert(high, i32)});
  // Integers compare signed; with the top bit flipped that is the unsigned
  // order.
  auto threshold =
      static_cast<int32_t>(static_cast<uint32_t>(rule.threshold) ^ 0x80000000u);
  Value flipped =
      b.xori(word, b.constantInt(std::numeric_limits<int32_t>::min(), i32));
  Value kept = b.compare(Compare::GreaterOrEqual, flipped,
                         b.constantInt(threshold, i32));
  return b.select(kept, b.constant(rule.scale), b.constant(0));
}

} // namespace halftone::graph
