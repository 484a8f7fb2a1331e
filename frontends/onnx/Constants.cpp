// SPDX-License-Identifier: Apache-2.0
// Nodes whose result is known as soon as shapes are.
#include "frontends/onnx/NodeImporter.h"
#include <cmath>

using namespace mlir;

namespace halftone::onnx_frontend {
namespace {

HostTensor intTensor(MLIRContext *context, ArrayRef<int64_t> values,
                     bool scalar = false) {
  SmallVector<int64_t> shape;
  if (!scalar)
    shape.push_back(static_cast<int64_t>(values.size()));
  HostTensor tensor(
      RankedTensorType::get(shape, IntegerType::get(context, 64)));
  tensor.ints.assign(values.begin(), values.end());
  return tensor;
}

HostTensor floatTensor(MLIRContext *context, ArrayRef<double> values,
                       bool scalar) {
  SmallVector<int64_t> shape;
  if (!scalar)
    shape.push_back(static_cast<int64_t>(values.size()));
  HostTensor tensor(RankedTensorType::get(shape, Float32Type::get(context)));
  tensor.floats.assign(values.begin(), values.end());
  return tensor;
}

} // namespace

NodeImporter::Results NodeImporter::importConstant(const Node &node) {
  if (node.proto.attribute_size() != 1)
    return fail(node, "a Constant has one attribute");
  const auto &proto = node.proto.attribute(0);
  std::optional<AttributeValue> value =
      readAttribute(context, proto, external, log);
  if (!value)
    return std::nullopt;
  if (auto *tensor = std::get_if<HostTensor>(&value->value))
    return SmallVector<Imported>{std::move(*tensor)};
  if (const auto *ints = std::get_if<std::vector<int64_t>>(&value->value))
    return SmallVector<Imported>{intTensor(context, *ints, !value->isList)};
  if (const auto *floats = std::get_if<std::vector<double>>(&value->value))
    return SmallVector<Imported>{floatTensor(context, *floats, !value->isList)};
  return fail(node, "strings are not supported");
}

NodeImporter::Results NodeImporter::importConstantOfShape(const Node &node) {
  auto shape = constantInts(node, 0);
  if (!shape)
    return std::nullopt;
  if (!checkedSize(*shape))
    return fail(node, "the shape is negative or impossibly large");
  HostTensor value(RankedTensorType::get({}, Float32Type::get(context)));
  if (const auto *attribute = node.attribute("value")) {
    std::optional<TensorContent> content =
        decodeTensor(attribute->t(), external, log);
    if (!content || content->missing || *checkedSize(content->shape) != 1)
      return fail(node, "attribute 'value' must have one element");
    content->shape.clear();
    value = toHostTensor(context, *content);
  }
  Builder b(context);
  return fromFailureOr(emitter.emitOne(
      node.loc, "expand", {Imported(std::move(value))},
      {b.getNamedAttr("shape", b.getDenseI64ArrayAttr(*shape))}));
}

NodeImporter::Results NodeImporter::importRange(const Node &node) {
  for (size_t i = 0; i < 3; ++i)
    if (!node.input(i) || !node.input(i)->constant ||
        node.input(i)->type().getNumElements() != 1)
      return fail(node, "start, limit and delta must be constant scalars");
  const HostTensor &start = *node.input(0)->constant,
                   &limit = *node.input(1)->constant,
                   &delta = *node.input(2)->constant;
  constexpr double kMost = 1 << 28;
  if (delta.asDouble(0) == 0)
    return fail(node, "delta is 0");
  double count =
      std::ceil((limit.asDouble(0) - start.asDouble(0)) / delta.asDouble(0));
  if (!(count <= kMost))
    return fail(node, "the range has too many elements");
  int64_t n = std::max<int64_t>(0, static_cast<int64_t>(count));
  HostTensor range(RankedTensorType::get({n}, start.getElementType()));
  for (int64_t i = 0; i < n; ++i) {
    if (range.isFloat())
      range.floats[i] =
          start.floats[0] + static_cast<double>(i) * delta.asDouble(0);
    else
      range.ints[i] = start.ints[0] + i * delta.asInt(0);
  }
  return SmallVector<Imported>{std::move(range)};
}

NodeImporter::Results NodeImporter::importShape(const Node &node) {
  if (!node.input(0) || !node.input(0)->isTensor())
    return fail(node, "the input is no tensor");
  ArrayRef<int64_t> shape = node.input(0)->type().getShape();
  if (node.proto.op_type() == "Size")
    return SmallVector<Imported>{
        intTensor(context, {node.input(0)->type().getNumElements()}, true)};
  int64_t rank = static_cast<int64_t>(shape.size());
  auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = clamp(node.integer("start", 0)),
          end = clamp(node.integer("end", rank));
  return SmallVector<Imported>{intTensor(
      context, shape.slice(start, std::max<int64_t>(0, end - start)))};
}

} // namespace halftone::onnx_frontend
