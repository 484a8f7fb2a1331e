// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Initializers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using onnx::ModelProto, onnx::TensorProto;

namespace halftone::onnx_frontend {

bool Initializer::isLarge() const {
  constexpr int64_t kLargeBytes = 1024;
  return isFloat() &&
         *checkedSize(content.shape) * elementBytes(content.onnxType) >
             kLargeBytes;
}

static void dropData(TensorProto &tensor) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
}

static llvm::StringMap<std::string> kindsOf(const ModelProto &model) {
  llvm::StringMap<std::string> kinds;
  auto look = [&](const std::string &name, const auto &metadata) {
    for (const auto &entry : metadata)
      if (entry.key() == "pkg.torch.export.graph_signature.InputSpec.kind")
        kinds[name] = entry.value();
  };
  for (const auto &value : model.graph().value_info())
    look(value.name(), value.metadata_props());
  for (const auto &value : model.graph().input())
    look(value.name(), value.metadata_props());
  for (const auto &tensor : model.graph().initializer())
    look(tensor.name(), tensor.metadata_props());
  return kinds;
}

std::vector<Initializer> readInitializers(const ModelProto &model,
                                          ExternalData &external,
                                          DiagnosticLog &log) {
  std::vector<Initializer> result;
  llvm::StringMap<std::string> kinds = kindsOf(model);
  llvm::StringSet<> names;
  for (const TensorProto &tensor : model.graph().initializer()) {
    if (tensor.name().empty() || !names.insert(tensor.name()).second)
      log.error("two initializers have the name '" + tensor.name() + "'");
    else if (std::optional<TensorContent> content =
                 decodeTensor(tensor, external, log))
      result.push_back(
          {tensor.name(), std::move(*content), kinds.lookup(tensor.name())});
  }
  return result;
}

/// What stands for an initializer in the light model: its type as an input, or
/// a small tensor with its data in place.
static void addLight(onnx::GraphProto &graph, const llvm::StringSet<> &inputs,
                     const Initializer &initializer) {
  const TensorContent &content = initializer.content;
  if (!initializer.isLarge() && !content.missing) {
    TensorProto &tensor = *graph.add_initializer();
    tensor.set_name(initializer.name);
    tensor.mutable_dims()->Add(content.shape.begin(), content.shape.end());
    tensor.set_data_type(content.onnxType);
    if (content.onnxType == TensorProto::INT64)
      tensor.mutable_int64_data()->Add(content.ints.begin(),
                                       content.ints.end());
    else if (!initializer.isFloat())
      tensor.mutable_int32_data()->Add(content.ints.begin(),
                                       content.ints.end());
    else if (content.onnxType == TensorProto::DOUBLE)
      tensor.mutable_double_data()->Add(content.floats.begin(),
                                        content.floats.end());
    else if (content.onnxType == TensorProto::FLOAT)
      tensor.mutable_float_data()->Add(content.floats.begin(),
                                       content.floats.end());
    else // The value of a half is nobody's business; its type is.
      tensor.mutable_int32_data()->Resize(
          static_cast<int>(content.floats.size()), 0);
    return;
  }
  if (inputs.contains(initializer.name))
    return;
  auto *input = graph.add_input();
  input->set_name(initializer.name);
  auto *type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(content.onnxType);
  type->mutable_shape();
  for (int64_t extent : content.shape)
    type->mutable_shape()->add_dim()->set_dim_value(extent);
}

ModelProto lightCopy(ModelProto &model,
                     llvm::ArrayRef<Initializer> initializers) {
  google::protobuf::RepeatedPtrField<TensorProto> heavy;
  heavy.Swap(model.mutable_graph()->mutable_initializer());
  ModelProto light = model;
  heavy.Swap(model.mutable_graph()->mutable_initializer());
  llvm::StringSet<> inputs;
  for (const auto &input : light.graph().input())
    inputs.insert(input.name());
  for (const Initializer &initializer : initializers)
    addLight(*light.mutable_graph(), inputs, initializer);
  return light;
}

std::string serializeStripped(ModelProto &model, ExternalData &external,
                              llvm::function_ref<bool(llvm::StringRef)> drop) {
  for (TensorProto &tensor : *model.mutable_graph()->mutable_initializer()) {
    if (drop(tensor.name())) {
      dropData(tensor);
    } else if (tensor.data_location() == TensorProto::EXTERNAL) {
      std::string raw;
      std::optional<int64_t> size = checkedSize(
          llvm::ArrayRef<int64_t>(tensor.dims().data(), tensor.dims_size()));
      if (!size ||
          external.read(tensor, *size * elementBytes(tensor.data_type()),
                        raw) != ExternalData::Status::Read)
        continue;
      dropData(tensor);
      tensor.set_raw_data(std::move(raw));
    }
  }
  return model.SerializeAsString();
}

} // namespace halftone::onnx_frontend
