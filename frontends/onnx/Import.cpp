// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Import.h"
#include "compiler/graph/GraphOps.h"
#include "frontends/onnx/EvaluationForm.h"
#include "frontends/onnx/ImportGraph.h"
#include "frontends/onnx/ModelFile.h"
#include "frontends/onnx/Rebatch.h"
#include "frontends/onnx/VerifyModel.h"
#include "frontends/onnx/VerifyText.h"
#include "google/protobuf/stubs/logging.h"
#include "llvm/ADT/StringSet.h"
#include <filesystem>

using namespace mlir;

namespace halftone::onnx_frontend {
namespace {

/// The steps from bytes to a program; each returns false after an error.
class Importer {
public:
  Importer(MLIRContext &context, const std::string &folder,
           const ImportOptions &options)
      : context(context), options(options) {
    prepared.folder = folder;
  }

  /// `parsed` may be null where parsing failed and `parsing` says why.
  ImportResult run(std::unique_ptr<onnx::ModelProto> parsed,
                   const DiagnosticLog &parsing) {
    model = std::move(parsed);
    log.append(parsing);
    if (model && verifyText(*model, log) && verifyVersions(*model, log) &&
        readData() && prepare())
      importProgram();
    result.diagnostics = log.take();
    if (llvm::any_of(result.diagnostics, [](const Diagnostic &d) {
          return d.severity == Severity::Error;
        }))
      result.module = {};
    return std::move(result);
  }

private:
  bool readData() {
    ExternalData external(prepared.folder, log);
    prepared.initializers = readInitializers(*model, external, log);
    llvm::StringSet<> missing;
    for (const Initializer &initializer : prepared.initializers)
      if (initializer.content.missing)
        missing.insert(initializer.name);
    for (const auto &tensor : model->graph().initializer())
      if (!options.randomInit && missing.contains(tensor.name()))
        external.noteMissing(tensor);
    external.reportMissing();
    return !log.hasErrors();
  }

  bool prepare() {
    onnx::ModelProto &light = prepared.light =
        lightCopy(*model, prepared.initializers);
    nameNodes(light);
    if (!orderNodes(light, log) || !verifyOperators(&context, light, log) ||
        !runChecker(light, log) || !inlineFunctions(light, log))
      return false;
    nameNodes(light);
    if (!orderNodes(light, log) || !runChecker(light, log))
      return false;
    llvm::StringSet<> weights;
    for (const Initializer &initializer : prepared.initializers)
      weights.insert(initializer.name);
    auto bound = bindInputs(
        light.graph(), options,
        [&](StringRef name) { return weights.contains(name); }, log);
    if (!bound)
      return false;
    inputs = std::move(*bound);
    result.boundDims = inputs.dims;
    prepared.roles = decideRoles(light, prepared.initializers, options, log);
    return !log.hasErrors();
  }

  void importProgram() {
    ImportedGraph imported =
        importGraph(&context, prepared, inputs.inputs, options);
    if (imported.module && inputs.oldBatch)
      imported = rebatch(std::move(imported));
    log.append(imported.log);
    if (imported.module)
      reportEvaluationForm(*imported.module->getOps<graph::ProgramOp>().begin(),
                           prepared.light.graph(), options, log);
    result.module = std::move(imported.module);
    result.weights = std::move(prepared.roles.weights);
    for (Weight &weight : imported.constants.all())
      result.weights.add(std::move(weight));
    ExternalData external(prepared.folder, log);
    result.strippedModel =
        serializeStripped(*model, external, [&](StringRef name) {
          return result.weights.find(name) ||
                 prepared.roles.ties.contains(name);
        });
  }

  /// Imports again with the batch that --batch asks for; an error where the
  /// graph is made for its own.
  ImportedGraph rebatch(ImportedGraph original) {
    std::vector<InputShape> shapes = inputs.inputs;
    for (auto [shape, isBatched] : llvm::zip_equal(shapes, inputs.batched))
      if (isBatched)
        shape.shape[0] = *options.batch;
    ImportedGraph changed = importGraph(&context, prepared, shapes, options);
    std::vector<std::string> culprits = changed.failedNodes;
    if (changed.module)
      culprits = findBatchDependence(*original.module, *changed.module,
                                     *inputs.oldBatch, *options.batch);
    if (!culprits.empty() || !changed.module) {
      original.module = {};
      original.log.error(
          "--batch " + std::to_string(*options.batch) +
          ": the file was exported for a batch of " +
          std::to_string(*inputs.oldBatch) + ", which is fixed in " +
          counted(culprits.size(), "node") + ": " + joinNames(culprits, 10) +
          ". Export it with a symbolic batch: `torch.onnx.export(..., "
          "dynamic_shapes=({0: \"batch\"},), " +
          "dynamo=True, optimize=False)`, with the TorchScript exporter "
          "`dynamic_axes={\"" +
          shapes[0].name + "\": {0: \"batch\"}}`");
      return original;
    }
    changed.log.notice("the batch of " + std::to_string(*inputs.oldBatch) +
                       " in the file becomes " +
                       std::to_string(*options.batch));
    result.boundDims.emplace_back("batch", *options.batch);
    return changed;
  }

  MLIRContext &context;
  const ImportOptions &options;
  DiagnosticLog log;
  ImportResult result;
  std::unique_ptr<onnx::ModelProto> model;
  PreparedModel prepared;
  BoundInputs inputs;
};

} // namespace

/// ONNX and Protobuf throw, and Protobuf writes to stderr; nothing of that
/// leaves this folder.
static ImportResult guarded(llvm::function_ref<ImportResult()> import) {
  // What is wrong with a file is said in our words alone.
  google::protobuf::LogSilencer silence;
  try {
    return import();
  } catch (const std::exception &failure) {
    ImportResult result;
    result.diagnostics.push_back(
        {Severity::Error,
         "the model cannot be read: " + firstParagraph(failure.what())});
    return result;
  }
}

ImportResult importBytes(MLIRContext &context, StringRef bytes,
                         const std::string &folder,
                         const ImportOptions &options) {
  return guarded([&] {
    DiagnosticLog log;
    auto model = parseModel(bytes, log);
    return Importer(context, folder, options).run(std::move(model), log);
  });
}

ImportResult importModel(MLIRContext &context, const std::string &path,
                         const ImportOptions &options) {
  return guarded([&] {
    DiagnosticLog log;
    std::unique_ptr<onnx::ModelProto> model;
    // The bytes are freed before the data is decoded.
    if (std::optional<std::string> bytes = readFile(path, log))
      model = parseModel(*bytes, log);
    return Importer(context, std::filesystem::path(path).parent_path().string(),
                    options)
        .run(std::move(model), log);
  });
}

} // namespace halftone::onnx_frontend
