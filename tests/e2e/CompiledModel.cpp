// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/CompiledModel.h"
#include <cstdlib>
#include <cstring>
#include <set>

using namespace halftone::runtime;

namespace halftone::tests {
namespace {

void ignoreNotice(const std::string &) {}

template <typename T>
void convert(const HostArray &array, std::vector<double> &out) {
  for (size_t i = 0; i < array.bytes.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
    out.push_back(static_cast<double>(value));
  }
}

} // namespace

std::vector<double> toDoubles(const HostArray &array) {
  std::vector<double> out;
  switch (array.type) {
  case DataType::F32:
    convert<float>(array, out);
    break;
  case DataType::F64:
    convert<double>(array, out);
    break;
  case DataType::I64:
    convert<int64_t>(array, out);
    break;
  default:
    ADD_FAILURE() << "array of an unexpected type " << dataTypeName(array.type);
  }
  return out;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "halftone-test-XXXXXX")
          .string();
  path = ::mkdtemp(pattern.data());
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

Reference::Reference(const std::string &model) {
  auto read = readArrays(std::filesystem::path(HALFTONE_TESTDATA) / "models" /
                         (model + ".npz"));
  EXPECT_TRUE(read.ok()) << read.status().message();
  if (read.ok())
    arrays = *read;
}

std::vector<double> Reference::get(const std::string &name) const {
  auto it = arrays.find(name);
  return it == arrays.end() ? std::vector<double>() : toDoubles(it->second);
}

ArrayMap Reference::data(const Plan &plan) const {
  ArrayMap data;
  size_t index = 0;
  for (const Input &input : plan.inputs)
    if (input.kind == Input::Kind::Data)
      data[input.name] = arrays.at("in." + std::to_string(index++));
  if (has("target"))
    data["target"] = arrays.at("target");
  return data;
}

tools::CompileFlags referenceFlags(const std::string &model,
                                   const std::string &variant,
                                   const std::string &precision,
                                   const std::string &optimizer,
                                   const std::filesystem::path &folder) {
  tools::CompileFlags flags;
  flags.model = std::filesystem::path(HALFTONE_TESTDATA) / "models" /
                (model + "." + variant + ".onnx");
  flags.out = folder / (model + ".plan");
  flags.target = "cpu";
  flags.precision = precision;
  flags.optimizer = optimizer;
  // The models that tools/export_torch.py made have a symbolic batch.
  static const std::set<std::string> kOwn = {"bert_masked", "self_loss",
                                             "digits_cnn", "dropout"};
  if (kOwn.count(model))
    flags.batch = Reference(model).rows();
  if (model == "self_loss")
    flags.loss = "output:loss";
  if (optimizer == "sgd") {
    flags.lr = 0.05;
    flags.momentum = 0.9;
    flags.weightDecay = 1e-4;
  } else {
    flags.lr = 1e-3;
    flags.weightDecay = 0.01;
  }
  return flags;
}

CompiledModel::CompiledModel(const tools::CompileFlags &flags) {
  testing::internal::CaptureStdout();
  int code = tools::runCompile(flags);
  std::string output = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0) << output;
  if (code != 0)
    return;
  SessionOptions options;
  options.device = "cpu";
  auto opened = Session::open(flags.out, options, ignoreNotice);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  if (opened.ok())
    session = std::move(*opened);
}

DataSet CompiledModel::bind(const ArrayMap &data, ProgramKind program) {
  auto bound = DataSet::bind(data, "reference", session->plan(), program, true,
                             ignoreNotice);
  EXPECT_TRUE(bound.ok()) << bound.status().message();
  return bound.ok() ? *bound : DataSet();
}

std::vector<StepReport> CompiledModel::train(const DataSet &data,
                                             int64_t steps) {
  std::vector<StepReport> reports;
  auto sink = [&](const StepReport &report) {
    reports.push_back(report);
    return Status();
  };
  auto trainer = Trainer::create(
      *session, data, BatchOrder(data.rows(), data.batch(), 0, false));
  EXPECT_TRUE(trainer.ok()) << trainer.status().message();
  if (!trainer.ok())
    return reports;
  for (int64_t i = 0; i < steps; ++i)
    if (Status status = (*trainer)->step(sink); !status.ok()) {
      ADD_FAILURE() << status.message();
      return reports;
    }
  Status status = (*trainer)->finish(sink);
  EXPECT_TRUE(status.ok()) << status.message();
  return reports;
}

std::vector<double> CompiledModel::parameter(const Parameter &parameter) {
  auto bytes = session->executor().read(parameter.buffer);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return toDoubles(makeArray(DataType::F32,
                             session->plan().buffers[parameter.buffer].shape,
                             std::move(*bytes)));
}

std::map<std::string, std::vector<std::byte>>
CompiledModel::persistent(const std::vector<std::string> &except) {
  std::map<std::string, std::vector<std::byte>> all;
  auto add = [&](const std::string &name, uint32_t buffer) {
    if (std::find(except.begin(), except.end(), name) != except.end())
      return;
    auto bytes = session->executor().read(buffer);
    EXPECT_TRUE(bytes.ok()) << bytes.status().message();
    all[name] = *bytes;
  };
  for (const Parameter &parameter : session->plan().parameters)
    add(parameter.name, parameter.buffer);
  for (const State &state : session->plan().states)
    add(state.name, state.buffer);
  return all;
}

} // namespace halftone::tests
