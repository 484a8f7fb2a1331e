// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone-check-trace/TraceCheck.h"
#include "compiler/reference/RawTensor.h"
#include "runtime/data/Safetensors.h"
#include <fmt/format.h>

using namespace mlir;
using halftone::runtime::HostArray;
using halftone::runtime::Result;

namespace halftone::tools {
namespace {

/// Operands as tensors of their buffers' types.
Result<SmallVector<HostTensor>> decode(OperandRange buffers,
                                       ArrayRef<HostArray> arrays) {
  if (buffers.size() != arrays.size())
    return runtime::invalidInput(fmt::format("{} arrays for {} operands",
                                             arrays.size(), buffers.size()));
  SmallVector<HostTensor> tensors;
  for (auto [buffer, array] : llvm::zip_equal(buffers, arrays)) {
    RankedTensorType type = reference::tensorTypeOf(buffer);
    auto tensor = reference::decodeRaw(
        type, ArrayRef(array.bytes.data(), array.bytes.size()));
    if (failed(tensor)) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      return runtime::invalidInput(fmt::format(
          "{} bytes do not fill an operand of {}", array.bytes.size(), text));
    }
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

/// in.0, in.1, ... of a file, as far as they go.
std::vector<HostArray> numbered(const runtime::ArrayMap &arrays,
                                const char *prefix) {
  std::vector<HostArray> list;
  for (size_t i = 0;; ++i) {
    auto it = arrays.find(fmt::format("{}.{}", prefix, i));
    if (it == arrays.end())
      return list;
    list.push_back(it->second);
  }
}

/// The kernel that the IR names must be the one that ran.
runtime::Status checkKernel(exec::StepOpInterface step,
                            const std::map<std::string, std::string> &ran) {
  auto launch = dyn_cast<exec::LaunchOp>(step.getOperation());
  std::string wanted = launch ? launch.getKernel().str() : "";
  auto it = ran.find("kernel");
  std::string found = it == ran.end() ? "" : it->second;
  if (wanted != found)
    return runtime::invalidInput(
        fmt::format("ran kernel '{}' where the IR has '{}': the trace is of "
                    "another plan",
                    found, wanted));
  return {};
}

} // namespace

std::vector<exec::StepOpInterface> stepsOf(ModuleOp module, StringRef program) {
  std::vector<exec::StepOpInterface> list;
  for (auto candidate : module.getOps<exec::ProgramOp>())
    if (candidate.getSymName() == program)
      for (Operation &op : candidate.getBody().front())
        if (auto step = dyn_cast<exec::StepOpInterface>(op))
          list.push_back(step);
  return list;
}

Result<std::optional<reference::StepMismatch>>
checkTracedStep(exec::StepOpInterface step, ArrayRef<HostArray> inputs,
                ArrayRef<HostArray> outputs) {
  auto read = decode(step.getInputs(), inputs);
  HALFTONE_RETURN_IF_ERROR(read);
  auto written = decode(step.getOutputs(), outputs);
  HALFTONE_RETURN_IF_ERROR(written);
  auto mismatch = reference::checkStep(step, *read, *written);
  if (failed(mismatch))
    return runtime::failed("cannot be evaluated");
  return *mismatch;
}

Result<TraceReport> checkTrace(ModuleOp module, StringRef program,
                               const std::filesystem::path &folder) {
  std::vector<exec::StepOpInterface> steps = stepsOf(module, program);
  if (steps.empty())
    return runtime::invalidInput(
        fmt::format("the IR has no program '{}' of steps", program.str()));
  std::error_code error;
  auto files = std::distance(std::filesystem::directory_iterator(folder, error),
                             std::filesystem::directory_iterator());
  if (error || static_cast<size_t>(files) != steps.size())
    return runtime::invalidInput(fmt::format(
        "{}: {} files for {} steps", folder.string(), files, steps.size()));
  TraceReport report;
  for (auto [index, step] : llvm::enumerate(steps)) {
    std::filesystem::path path =
        folder / fmt::format("{:05}.safetensors", index);
    auto file = runtime::readSafetensors(path);
    HALFTONE_RETURN_IF_ERROR(file);
    HALFTONE_RETURN_IF_ERROR(
        runtime::withContext(path.string(), checkKernel(step, file->metadata)));
    auto mismatch = checkTracedStep(step, numbered(file->arrays, "in"),
                                    numbered(file->arrays, "out"));
    HALFTONE_RETURN_IF_ERROR(
        runtime::withContext(path.string(), mismatch.status()));
    ++report.checked;
    if (*mismatch)
      report.mismatches.push_back(fmt::format("step {} ({}): {}", index,
                                              file->metadata["node"],
                                              (*mismatch)->describe()));
  }
  return report;
}

} // namespace halftone::tools
