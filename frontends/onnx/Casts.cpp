// SPDX-License-Identifier: Apache-2.0
// Casts, of which those between float types vanish, and the rank-1 forms of
// MatMul.
#include "frontends/onnx/NodeImporter.h"

using namespace mlir;

namespace halftone::onnx_frontend {

NodeImporter::Results NodeImporter::importCast(const Node &node) {
  bool isLike = node.proto.op_type() == "CastLike";
  if (!node.input(0) || !node.input(0)->isTensor() ||
      (isLike && (!node.input(1) || !node.input(1)->isTensor())))
    return fail(node, "an input is no tensor");
  if (isLike)
    return castTo(node, node.input(1)->type().getElementType());
  int32_t to = static_cast<int32_t>(node.integer("to", 0));
  Type type = elementType(context, to);
  if (!type)
    return fail(node, "casts to " + typeName(to) + ", which is not supported");
  if (!node.input(0)->constant && isa<FloatType>(type) &&
      isa<FloatType>(node.input(0)->type().getElementType())) {
    auto from = inferred.find(node.proto.input(0));
    bool toHalf = isHalfType(to);
    if (options.keepCasts && toHalf) {
      // The value is rounded as the exporter wrote it; the arithmetic around
      // stays f32.
      Type half = to == onnx::TensorProto::FLOAT16
                      ? Type(Float16Type::get(context))
                      : Type(BFloat16Type::get(context));
      Results narrow = castTo(node, half);
      if (!narrow)
        return std::nullopt;
      Builder b(context);
      return fromFailureOr(
          emitter.emitOne(node.loc, "cast", {narrow->front()},
                          {b.getNamedAttr("to", TypeAttr::get(type))}));
    }
    if (from == inferred.end() || from->second.onnxType != to)
      ++dropped;
  }
  return castTo(node, type);
}

NodeImporter::Results NodeImporter::castTo(const Node &node, Type type) {
  const Imported &input = *node.input(0);
  if (input.type().getElementType() == type)
    return SmallVector<Imported>{input};
  Builder b(context);
  return fromFailureOr(emitter.emitOne(
      node.loc, "cast", {input}, {b.getNamedAttr("to", TypeAttr::get(type))}));
}

NodeImporter::Results NodeImporter::importMatMul(const Node &node) {
  if (!node.input(0) || !node.input(1) || !node.input(0)->isTensor() ||
      !node.input(1)->isTensor())
    return fail(node, "an input is no tensor");
  auto shapeOf = [&](size_t i) {
    return llvm::to_vector(node.input(i)->type().getShape());
  };
  SmallVector<int64_t> a = shapeOf(0), b = shapeOf(1);
  if (a.empty() || b.empty())
    return fail(node, "an input is a scalar");
  if (a.size() > 1 && b.size() > 1)
    return importOperator(node);
  // A vector is a row on the left and a column on the right; its axis is left
  // out of the result.
  bool row = a.size() == 1, column = b.size() == 1;
  if (row)
    a.insert(a.begin(), 1);
  if (column)
    b.push_back(1);
  auto left = emitter.reshape(node.loc, *node.input(0), a),
       right = emitter.reshape(node.loc, *node.input(1), b);
  if (mlir::failed(left) || mlir::failed(right))
    return std::nullopt;
  auto product = emitter.emitOne(node.loc, "matmul", {*left, *right}, {});
  if (mlir::failed(product))
    return std::nullopt;
  SmallVector<int64_t> shape(product->type().getShape());
  if (column)
    shape.pop_back();
  if (row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return fromFailureOr(emitter.reshape(node.loc, *product, shape));
}

} // namespace halftone::onnx_frontend
