// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/InferTypes.h"
#include "frontends/onnx/VerifyModel.h"
#include "onnx/shape_inference/implementation.h"

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
  return types;
}

} // namespace halftone::onnx_frontend
