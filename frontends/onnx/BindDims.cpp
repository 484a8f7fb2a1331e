// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/BindDims.h"
#include "frontends/onnx/TensorData.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace halftone::onnx_frontend {
namespace {

class Binder {
public:
  Binder(const ImportOptions &options, DiagnosticLog &log)
      : options(options), log(log) {}

  void readOptions() {
    for (const auto &[name, extent] : options.dims) {
      if (extent < 1)
        log.error("--dim " + name + "=" + std::to_string(extent) +
                  ": a dimension is at least 1");
      auto [known, isNew] = bound.try_emplace(name, extent);
      if (!isNew && known->second != extent)
        log.error("--dim binds '" + name + "' to both " +
                  std::to_string(known->second) + " and " +
                  std::to_string(extent));
    }
    if (options.batch && *options.batch < 1)
      log.error("--batch " + std::to_string(*options.batch) +
                ": a batch is at least 1");
  }

  /// --batch binds the name of the first symbolic leading dimension.
  void bindLeading(const onnx::GraphProto &graph,
                   llvm::function_ref<bool(llvm::StringRef)> isWeight) {
    if (!options.batch)
      return;
    for (const auto &input : graph.input()) {
      const auto &type = input.type().tensor_type();
      if (isWeight(input.name()) || !type.has_shape() ||
          type.shape().dim().empty() || type.shape().dim(0).has_dim_value())
        continue;
      std::string name = dimName(input.name(), type.shape().dim(0), 0);
      auto [known, isNew] = bound.try_emplace(name, *options.batch);
      if (!isNew && known->second != *options.batch)
        log.error("--batch " + std::to_string(*options.batch) + " and --dim " +
                  name + "=" + std::to_string(known->second) +
                  " disagree about the same dimension");
      bindsLeading = true;
      return;
    }
  }

  void bind(const onnx::ValueInfoProto &input, BoundInputs &out) {
    const auto &type = input.type().tensor_type();
    if (!input.type().has_tensor_type() || !type.has_shape()) {
      log.error(
          "input '" + input.name() +
          "' is no tensor of known rank: export the model with example inputs");
      return;
    }
    if (!canBeStored(type.elem_type()))
      log.error("input '" + input.name() + "' has the element type " +
                typeName(type.elem_type()) + ", which is not supported");
    InputShape shape{input.name(), type.elem_type(), {}};
    for (int axis = 0; axis < type.shape().dim_size(); ++axis)
      shape.shape.push_back(
          extentOf(input.name(), type.shape().dim(axis), axis));
    verifySize(shape.name, shape.shape);
    out.inputs.push_back(std::move(shape));
  }

  void finish(BoundInputs &out) {
    if (!unbound.empty())
      log.error(counted(unbound.size(), "dimension") + " of the inputs " +
                (unbound.size() == 1 ? "is" : "are") +
                " not bound: " + joinNames(unbound) + ". Bind " +
                (unbound.size() == 1 ? "it" : "each") + " with --dim NAME=N" +
                (options.batch ? "" : ", or a leading one with --batch N"));
    for (const auto &[name, extent] : options.dims)
      if (!used.contains(name))
        log.error("--dim " + name + "=" + std::to_string(extent) +
                  ": no input has a dimension '" + name + "'" +
                  (names.empty() ? "; all dimensions are static"
                                 : "; there are " + joinNames(names)));
    for (const std::string &name : names)
      if (bound.contains(name))
        out.dims.emplace_back(name, bound.lookup(name));
    if (options.batch && !bindsLeading)
      askForRebatch(out);
  }

private:
  static std::string dimName(const std::string &input,
                             const onnx::TensorShapeProto::Dimension &dim,
                             int axis) {
    return dim.has_dim_param() && !dim.dim_param().empty()
               ? dim.dim_param()
               : input + "." + std::to_string(axis);
  }

  /// Extents below 1 have an error of their own.
  void verifySize(const std::string &input, llvm::ArrayRef<int64_t> shape) {
    if (llvm::all_of(shape, [](int64_t extent) { return extent >= 1; }) &&
        !checkedSize(shape))
      log.error("input '" + input + "' would have more than 2^40 elements");
  }

  int64_t extentOf(const std::string &input,
                   const onnx::TensorShapeProto::Dimension &dim, int axis) {
    if (dim.has_dim_value()) {
      if (dim.dim_value() < 1)
        log.error("input '" + input + "' has a dimension of " +
                  std::to_string(dim.dim_value()));
      return dim.dim_value();
    }
    std::string name = dimName(input, dim, axis);
    if (used.insert(name).second)
      names.push_back(name);
    auto found = bound.find(name);
    if (found != bound.end())
      return found->second;
    if (!llvm::is_contained(unbound, name))
      unbound.push_back(name);
    return 1;
  }

  void askForRebatch(BoundInputs &out) {
    for (const InputShape &input : out.inputs)
      if (!out.oldBatch && !input.shape.empty())
        out.oldBatch = input.shape[0];
    if (!out.oldBatch)
      log.error("--batch: no input has a leading dimension");
    if (out.oldBatch == options.batch)
      out.oldBatch.reset();
    for (const InputShape &input : out.inputs) {
      out.batched.push_back(!input.shape.empty() &&
                            input.shape[0] == out.oldBatch);
      if (!out.batched.back())
        continue;
      llvm::SmallVector<int64_t> changed(input.shape.begin(),
                                         input.shape.end());
      changed[0] = *options.batch;
      verifySize(input.name, changed);
    }
  }

  const ImportOptions &options;
  DiagnosticLog &log;
  llvm::StringMap<int64_t> bound;
  llvm::StringSet<> used;
  std::vector<std::string> names, unbound;
  bool bindsLeading = false;
};

} // namespace

std::optional<BoundInputs>
bindInputs(const onnx::GraphProto &graph, const ImportOptions &options,
           llvm::function_ref<bool(llvm::StringRef)> isWeight,
           DiagnosticLog &log) {
  BoundInputs out;
  Binder binder(options, log);
  binder.readOptions();
  binder.bindLeading(graph, isWeight);
  for (const auto &input : graph.input())
    if (!isWeight(input.name()))
      binder.bind(input, out);
  binder.finish(out);
  if (log.hasErrors())
    return std::nullopt;
  return out;
}

} // namespace halftone::onnx_frontend
