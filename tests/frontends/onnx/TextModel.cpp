// SPDX-License-Identifier: Apache-2.0
#include "tests/frontends/onnx/TextModel.h"
#include "onnx/defs/parser.h"
#include "llvm/Support/raw_ostream.h"

namespace halftone::onnx_frontend {

onnx::ModelProto textModel(const std::string &graph, int opset) {
  std::string text =
      "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
      "]>\n" + graph;
  onnx::ModelProto model;
  auto status = onnx::OnnxParser::Parse(model, text.c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}

void addInitializer(onnx::ModelProto &model, const std::string &name,
                    std::vector<int64_t> shape, float first) {
  auto &tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  int64_t size = 1;
  for (int64_t extent : shape) {
    tensor.add_dims(extent);
    size *= extent;
  }
  for (int64_t i = 0; i < size; ++i)
    tensor.add_float_data(first + 0.01f * static_cast<float>(i));
}

ImportTest::ImportTest() { context.loadDialect<graph::GraphDialect>(); }

ImportResult ImportTest::import(const onnx::ModelProto &model,
                                const ImportOptions &options,
                                const std::string &folder) {
  return importBytes(context, model.SerializeAsString(), folder, options);
}

ImportResult ImportTest::importFile(const std::string &name,
                                    const ImportOptions &options) {
  return importModel(context, HALFTONE_TESTDATA "/models/" + name, options);
}

std::string messages(const ImportResult &result, Severity severity) {
  std::string text;
  for (const Diagnostic &diagnostic : result.diagnostics)
    if (diagnostic.severity == severity)
      text += (text.empty() ? "" : "\n") + diagnostic.message;
  return text;
}

graph::ProgramOp programOf(const ImportResult &result) {
  return *const_cast<ImportResult &>(result)
              .module->getOps<graph::ProgramOp>()
              .begin();
}

std::vector<std::string> operatorsOf(const ImportResult &result) {
  std::vector<std::string> ops;
  for (mlir::Operation &op : programOf(result).getBody().front())
    if (!mlir::isa<graph::InputOp, graph::ParameterOp, graph::ConstantOp,
                   graph::OutputOp>(op))
      ops.push_back(op.getName().stripDialect().str());
  return ops;
}

std::string print(const ImportResult &result) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  programOf(result)->print(stream, mlir::OpPrintingFlags().enableDebugInfo(
                                       /*enable=*/true, /*prettyForm=*/true));
  return text;
}

std::vector<int64_t> outputShape(const ImportResult &result,
                                 const std::string &name) {
  for (auto output :
       programOf(result).getBody().front().getOps<graph::OutputOp>())
    if (output.getName() == name)
      return mlir::cast<mlir::RankedTensorType>(output.getValue().getType())
          .getShape()
          .vec();
  return {-1};
}

std::vector<std::string> names(const ImportResult &result, WeightRole role) {
  std::vector<std::string> out;
  for (const Weight &weight : result.weights.all())
    if (weight.role == role)
      out.push_back(weight.name);
  llvm::sort(out);
  return out;
}

ScratchFolder::ScratchFolder() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "halftone-onnx-XXXXXX")
          .string();
  path = mkdtemp(pattern.data());
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

} // namespace halftone::onnx_frontend
