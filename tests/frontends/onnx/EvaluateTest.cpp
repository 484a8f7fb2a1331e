// SPDX-License-Identifier: Apache-2.0
// Imported programs compute what PyTorch computes: every sample, evaluated on
// the host, against its eval output.
#include "compiler/reference/Interpreter.h"
#include "runtime/data/Npy.h"
#include "tests/frontends/onnx/TextModel.h"
#include <cstring>

namespace halftone::onnx_frontend {
namespace {

/// An array of float32 or int64 as a tensor of the type that the program wants.
HostTensor toTensor(const runtime::HostArray &array,
                    mlir::RankedTensorType type) {
  HostTensor tensor(type);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (array.type == runtime::DataType::F32) {
      float value;
      std::memcpy(&value, array.bytes.data() + i * sizeof(value),
                  sizeof(value));
      tensor.set(i, static_cast<double>(value));
    } else {
      int64_t value;
      std::memcpy(&value, array.bytes.data() + i * sizeof(value),
                  sizeof(value));
      tensor.set(i, value);
    }
  }
  return tensor;
}

class EvaluateTest : public ImportTest,
                     public testing::WithParamInterface<const char *> {};

TEST_P(EvaluateTest, matchesPyTorch) {
  std::string file = GetParam();
  auto reference = runtime::readNpz(HALFTONE_TESTDATA "/models/" +
                                    file.substr(0, file.find('.')) + ".npz");
  ASSERT_TRUE(reference.ok());
  ImportOptions options;
  options.batch = reference->at("in.0").shape[0];
  ImportResult result = importFile(file + ".onnx", options);
  ASSERT_TRUE(result) << messages(result);

  reference::TensorMap named;
  int number = 0;
  for (auto input :
       programOf(result).getBody().front().getOps<graph::InputOp>())
    named[input.getName().str()] = toTensor(
        reference->at("in." + std::to_string(number++)),
        mlir::cast<mlir::RankedTensorType>(input.getValue().getType()));
  for (const Weight &weight : result.weights.all()) {
    HostTensor tensor(mlir::RankedTensorType::get(
        weight.shape, mlir::Float32Type::get(&context)));
    tensor.floats.assign(weight.data.begin(), weight.data.end());
    named[weight.name] = std::move(tensor);
  }
  reference::Interpreter interpreter;
  auto run = interpreter.run(programOf(result), named);
  ASSERT_TRUE(mlir::succeeded(run));
  const HostTensor &found = run->outputs.begin()->second;
  HostTensor expected = toTensor(reference->at("eval.out"), found.getType());
  double error = 0, norm = 0;
  for (int64_t i = 0; i < found.size(); ++i) {
    error = std::max(error, std::abs(found.floats[i] - expected.floats[i]));
    norm = std::max(norm, std::abs(expected.floats[i]));
  }
  // The file's weights and constants are float32, the arithmetic is double.
  EXPECT_LT(error, 1e-5 * norm);
}

// Files in training mode with BatchNorm or Dropout compute something else.
INSTANTIATE_TEST_SUITE_P(
    Files, EvaluateTest,
    testing::Values("mlp.raw20", "mlp.raw20train", "mlp.script17train",
                    "mlp.dynamo18", "mlp.dynamo23", "cnn.raw20", "cnn.dynamo18",
                    "cnn.dynamo23", "resnet.raw20", "resnet.dynamo18",
                    "resnet.dynamo23", "bert.raw20", "bert.raw20train",
                    "bert.script17train", "bert.dynamo18", "bert.dynamo23",
                    "gpt2.raw20", "gpt2.raw20train", "gpt2.dynamo18",
                    "gpt2.dynamo23", "digits_cnn.raw20", "bert_masked.raw20",
                    "bert_masked.script17train", "self_loss.raw20",
                    "self_loss.script17train", "functions"),
    [](const auto &info) {
      std::string name = info.param;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

} // namespace
} // namespace halftone::onnx_frontend
