// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/ImportGraph.h"
#include "compiler/graph/GraphDialect.h"
#include "frontends/onnx/NodeImporter.h"

using namespace mlir;

namespace halftone::onnx_frontend {
namespace {

class GraphImport {
public:
  GraphImport(MLIRContext *context, const PreparedModel &model,
              const ImportOptions &options)
      : context(context), model(model), options(options),
        external(model.folder, out.log) {}

  ImportedGraph run(ArrayRef<InputShape> inputs) {
    auto types = inferTypes(model.light, inputs, out.log);
    if (!types)
      return std::move(out);
    Location loc = UnknownLoc::get(context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    OpBuilder b = OpBuilder::atBlockBegin(module->getBody());
    auto program = b.create<graph::ProgramOp>(loc, "main");
    Emitter emitter(&program.getBody().front(), context, out.constants);
    NodeImporter nodes(context, emitter, *types, external, out.log,
                       {opsetVersion(model.light), options.keepCasts});
    bindInputs(emitter.builder(), nodes, inputs);
    bindWeights(emitter.builder(), nodes);
    if (bindTies(emitter, nodes) && bindConstants(nodes)) {
      for (const auto &node : model.light.graph().node())
        nodes.importNode(node);
      external.reportMissing();
      writeOutputs(emitter, nodes);
    }
    if (nodes.droppedCasts())
      out.log.notice(counted(nodes.droppedCasts(), "Cast") +
                     " between float types dropped: the plan chooses the "
                     "precisions (--keep-casts keeps those to half types)");
    out.failedNodes = nodes.failedNodes().vec();
    if (!out.log.hasErrors())
      out.module = std::move(module);
    return std::move(out);
  }

private:
  Location named(StringRef name) {
    return NameLoc::get(StringAttr::get(context, name));
  }

  void bindInputs(OpBuilder &b, NodeImporter &nodes,
                  ArrayRef<InputShape> inputs) {
    for (const InputShape &input : inputs) {
      auto type = RankedTensorType::get(input.shape,
                                        elementType(context, input.onnxType));
      if (isFloatType(input.onnxType) &&
          input.onnxType != onnx::TensorProto::FLOAT)
        out.log.notice("input '" + input.name + "' is " +
                       typeName(input.onnxType) +
                       " in the file and becomes float32");
      nodes.bind(input.name, b.create<graph::InputOp>(named(input.name), type,
                                                      input.name, "data")
                                 .getResult());
    }
  }

  void bindWeights(OpBuilder &b, NodeImporter &nodes) {
    for (const Weight &weight : model.roles.weights.all()) {
      if (weight.role == WeightRole::Constant)
        continue;
      auto type = RankedTensorType::get(weight.shape, b.getF32Type());
      nodes.bind(weight.name,
                 b.create<graph::ParameterOp>(
                      named(weight.name), type, b.getStringAttr(weight.name),
                      b.getStringAttr(toString(weight.role)))
                     .getResult());
    }
  }

  bool bindTies(Emitter &emitter, NodeImporter &nodes) {
    for (const Initializer &initializer : model.initializers) {
      auto tie = model.roles.ties.find(initializer.name);
      if (tie == model.roles.ties.end())
        continue;
      Imported parameter = *nodes.find(tie->second.parameter);
      if (tie->second.transposed) {
        auto transposed = emitter.emitOne(named(initializer.name), "transpose",
                                          {parameter}, {});
        if (failed(transposed)) {
          out.log.error("the parameter '" + parameter.name +
                        "' cannot be transposed");
          return false;
        }
        parameter = *transposed;
      }
      nodes.bind(initializer.name, std::move(parameter));
    }
    return true;
  }

  bool bindConstants(NodeImporter &nodes) {
    std::vector<std::string> unusable;
    for (const Initializer &initializer : model.initializers) {
      if (nodes.find(initializer.name))
        continue;
      if (initializer.content.missing)
        unusable.push_back(initializer.name);
      else
        nodes.bind(initializer.name,
                   toHostTensor(context, initializer.content));
    }
    if (!unusable.empty())
      out.log.error("the external data of " +
                    counted(unusable.size(), "constant") + " is missing (" +
                    joinNames(unusable, 5) +
                    "), and only parameters and statistics can be drawn: put "
                    "the file into the model's folder");
    return unusable.empty();
  }

  void writeOutputs(Emitter &emitter, NodeImporter &nodes) {
    for (const auto &output : model.light.graph().output()) {
      const Imported *value = nodes.find(output.name());
      if (!value) {
        // Its node, or one before, has failed and said so; else the operator
        // here has fewer results than ONNX's.
        if (!out.log.hasErrors())
          out.log.error("output '" + output.name() +
                        "' is a result of its operator that is not supported");
        continue;
      }
      if (!value->isTensor()) {
        out.log.error("output '" + output.name() + "' is a sequence");
        continue;
      }
      Value tensor = emitter.materialize(named(output.name()), *value);
      emitter.builder().create<graph::OutputOp>(named(output.name()),
                                                output.name(), tensor);
    }
  }

  MLIRContext *context;
  const PreparedModel &model;
  const ImportOptions &options;
  ImportedGraph out;
  ExternalData external;
};

} // namespace

ImportedGraph importGraph(MLIRContext *context, const PreparedModel &model,
                          ArrayRef<InputShape> inputs,
                          const ImportOptions &options) {
  return GraphImport(context, model, options).run(inputs);
}

} // namespace halftone::onnx_frontend
