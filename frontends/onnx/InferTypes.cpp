// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/InferTypes.h"
#include "frontends/onnx/Operators.h"
#include "frontends/onnx/VerifyModel.h"
#include "onnx/shape_inference/implementation.h"
#include "llvm/ADT/StringSet.h"

namespace halftone::onnx_frontend {

static InferredType toInferred(const onnx::TypeProto &type) {
  InferredType out;
  out.onnxType = type.tensor_type().elem_type();
  if (!type.has_tensor_type() || !type.tensor_type().has_shape())
    return out;
  llvm::SmallVector<int64_t> shape;
  for (const auto &dim : type.tensor_type().shape().dim()) {
    if (!dim.has_dim_value())
      return out;
    shape.push_back(dim.dim_value());
  }
  out.shape = std::move(shape);
  return out;
}

/// Up to opset 21 ONNX's inference counts windows that start in the padding
/// behind the input where a pool has `ceil_mode`, unlike its own text, its
/// reference implementation and PyTorch (mended with version 22 of the pools).
/// Nothing is known of what depends on such a node's result.
static void forgetMiscounted(const onnx::ModelProto &model,
                             llvm::StringMap<InferredType> &types) {
  constexpr int64_t kMendedOpset = 22;
  if (opsetVersion(model) >= kMendedOpset)
    return;
  auto isCeiled = [](const onnx::NodeProto &node) {
    return llvm::any_of(node.attribute(), [](const auto &attribute) {
      return attribute.name() == "ceil_mode" && attribute.i() != 0;
    });
  };
  llvm::StringSet<> doubtful;
  // Nodes need not be in order.
  size_t before;
  do {
    before = doubtful.size();
    for (const onnx::NodeProto &node : model.graph().node())
      if (isCeiled(node) ||
          llvm::any_of(node.input(), [&](const std::string &name) {
            return doubtful.contains(name);
          }))
        for (const std::string &name : node.output())
          if (doubtful.insert(name).second)
            types[name].shape.reset();
  } while (doubtful.size() != before);
}

std::optional<llvm::StringMap<InferredType>>
inferTypes(const onnx::ModelProto &light, llvm::ArrayRef<InputShape> inputs,
           DiagnosticLog &log) {
  onnx::ModelProto model = light;
  onnx::GraphProto &graph = *model.mutable_graph();
  graph.clear_value_info();
  for (auto &output : *graph.mutable_output())
    if (output.type().has_tensor_type())
      output.mutable_type()->mutable_tensor_type()->clear_shape();
  for (auto &input : *graph.mutable_input())
    for (const InputShape &bound : inputs)
      if (bound.name == input.name())
        for (auto [axis, extent] : llvm::enumerate(bound.shape))
          input.mutable_type()
              ->mutable_tensor_type()
              ->mutable_shape()
              ->mutable_dim(static_cast<int>(axis))
              ->set_dim_value(extent);
  try {
    onnx::shape_inference::InferShapes(
        model, onnx::OpSchemaRegistry::Instance(),
        onnx::ShapeInferenceOptions(/*check_type=*/true, /*strict_mode=*/0,
                                    /*data_prop=*/true));
  } catch (const std::exception &refusal) {
    log.error("ONNX's shape inference refuses the model: " +
              firstParagraph(refusal.what()));
    return std::nullopt;
  }
  llvm::StringMap<InferredType> types;
  for (const auto *list :
       {&graph.value_info(), &graph.input(), &graph.output()})
    for (const auto &value : *list)
      types[value.name()] = toInferred(value.type());
  for (const auto &tensor : graph.initializer())
    types[tensor.name()].onnxType = tensor.data_type();
  forgetMiscounted(model, types);
  return types;
}

} // namespace halftone::onnx_frontend
