// SPDX-License-Identifier: Apache-2.0
// Small ONNX models from ONNX's text format, and what the tests ask of an
// import.
#pragma once
#include "compiler/graph/GraphOps.h"
#include "frontends/onnx/Import.h"
#include "onnx/onnx_pb.h"
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halftone::onnx_frontend {

/// A model of opset 20 around `graph`, which is ONNX text: "g (float[4,3] x) =>
/// (float[4,3] y) { y = Relu(x) }".
onnx::ModelProto textModel(const std::string &graph, int opset = 20);

/// A rank-2 or rank-1 float initializer with values that all differ.
void addInitializer(onnx::ModelProto &model, const std::string &name,
                    std::vector<int64_t> shape, float first = 0.5f);

class ImportTest : public testing::Test {
protected:
  ImportTest();

  ImportResult import(const onnx::ModelProto &model,
                      const ImportOptions &options = {},
                      const std::string &folder = "");
  ImportResult importFile(const std::string &name,
                          const ImportOptions &options = {});

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

/// All messages of one severity, a line each.
std::string messages(const ImportResult &result,
                     Severity severity = Severity::Error);

graph::ProgramOp programOf(const ImportResult &result);

/// Mnemonics of the operators in order; inputs, parameters, constants and
/// outputs left out.
std::vector<std::string> operatorsOf(const ImportResult &result);

/// The program as text.
std::string print(const ImportResult &result);

/// Shape of the output `name`.
std::vector<int64_t> outputShape(const ImportResult &result,
                                 const std::string &name);

/// Names of the weights of a role, sorted.
std::vector<std::string> names(const ImportResult &result, WeightRole role);

/// A folder that is gone with the test.
class ScratchFolder {
public:
  ScratchFolder();
  ~ScratchFolder();
  std::filesystem::path path;
};

} // namespace halftone::onnx_frontend
