// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/KernelHarness.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/reference/Interpreter.h"
#include "compiler/reference/RawTensor.h"
#include "mlir/Parser/Parser.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <unistd.h>

using namespace mlir;

namespace halftone::testing {
HostTensor randomTensor(Type type, uint64_t seed, double low, double high) {
  HostTensor tensor(cast<RankedTensorType>(type));
  std::mt19937_64 bits(seed);
  std::uniform_real_distribution<double> numbers(low, high);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (tensor.isFloat())
      tensor.set(i, roundTo(numbers(bits), tensor.getElementType()));
    else
      tensor.set(i, static_cast<int64_t>(std::floor(numbers(bits))));
  }
  return tensor;
}

std::string kernelText(const std::string &name, const std::string &schedule,
                       const std::string &arguments, const std::string &body,
                       const std::string &yielded, const std::string &results,
                       const std::string &attributes) {
  std::string names, types, inner;
  // "%x: tensor<2x3xf32>" entries, separated by ", %".
  size_t at = 0;
  while (at < arguments.size()) {
    size_t colon = arguments.find(':', at), next = arguments.find(", %", at);
    std::string argument = arguments.substr(at + 1, colon - at - 1),
                type = arguments.substr(colon + 1, next - colon - 1);
    names += (names.empty() ? "%in_" : ", %in_") + argument;
    types += (types.empty() ? "" : ", ") + type;
    inner += (inner.empty() ? "%in_" : ", %in_") + argument + ":" + type;
    at = next == std::string::npos ? arguments.size() : next + 2;
  }
  unsigned count =
      static_cast<unsigned>(std::count(yielded.begin(), yielded.end(), '%'));
  return "exec.kernel @" + name + " {\n^bb0(" + inner +
         "):\n  %r:" + std::to_string(count) + " = graph.fused \"" + schedule +
         "\" " + names +
         (attributes.empty() ? "" : " attributes {" + attributes + "}") +
         " {\n  ^bb0(" + arguments + "):\n" + body + "\n    graph.yield " +
         yielded + " : " + results + "\n  } : (" + types + ") -> (" + results +
         ")\n}\n";
}

KernelModule::KernelModule(const std::string &text) {
  mlirContext.loadDialect<graph::GraphDialect, exec::ExecDialect>();
  module = parseSourceString<ModuleOp>(text, ParserConfig(&mlirContext));
}

exec::KernelOp KernelModule::kernel(unsigned i) {
  return *std::next(module->getOps<exec::KernelOp>().begin(), i);
}

graph::FusedOp KernelModule::fused(unsigned i) {
  return *kernel(i).getBody().front().getOps<graph::FusedOp>().begin();
}

bool KernelModule::compile() {
  ScopedDiagnosticHandler handler(
      &mlirContext, [&](Diagnostic &d) { diagnostic += d.str() + "\n"; });
  SmallVector<exec::KernelOp> kernels(module->getOps<exec::KernelOp>());
  auto generated = codegen::generate(kernels, {});
  if (failed(generated))
    return false;
  code = std::move(*generated);
  std::vector<runtime::Module> modules{{code.code}};
  std::vector<runtime::Kernel> table;
  table.reserve(code.kernels.size());
  for (const codegen::KernelInfo &k : code.kernels)
    table.push_back({k.name, 0, k.workItems, k.grain, k.grid, k.block,
                     k.sharedBytes, k.schedule});
  auto loaded = runtime::cpu::KernelLibrary::load(modules, table);
  if (!loaded.ok()) {
    diagnostic += loaded.status().message();
    return false;
  }
  library = std::move(*loaded);
  return true;
}

/// What replay_cuda.py needs to run kernel `i` on a GPU and compare: its PTX,
/// its launch, and the memory before and after.
void KernelModule::record(const std::filesystem::path &folder,
                          const std::vector<std::vector<std::byte>> &memory,
                          unsigned i) {
  static unsigned runs = 0;
  ScopedDiagnosticHandler handler(
      &mlirContext, [&](Diagnostic &d) { diagnostic += d.str() + "\n"; });
  auto generated =
      codegen::generate(kernel(i), {codegen::TargetSpec::Kind::Cuda, 90});
  if (failed(generated))
    return;
  std::filesystem::path stem = folder / ("run" + std::to_string(runs++));
  std::ofstream(stem.string() + ".ptx") << generated->code;
  const codegen::KernelInfo &k = generated->kernels[0];
  std::ofstream launch(stem.string() + ".launch");
  launch << k.name << " " << k.grid[0] << " " << k.block[0] << " "
         << fused(i).getInputs().size() << "\n";
  std::vector<mlir::Value> tensors(fused(i).getInputs().begin(),
                                   fused(i).getInputs().end());
  tensors.insert(tensors.end(), fused(i).getOutputs().begin(),
                 fused(i).getOutputs().end());
  std::ofstream data(stem.string() + ".data", std::ios::binary);
  for (auto [bytes, tensor] : llvm::zip_equal(memory, tensors)) {
    std::string type;
    llvm::raw_string_ostream(type)
        << cast<RankedTensorType>(tensor.getType()).getElementType();
    launch << type << " " << bytes.size() << "\n";
    data.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
}

std::vector<HostTensor> KernelModule::run(const std::vector<HostTensor> &inputs,
                                          std::vector<int64_t> cuts,
                                          unsigned i) {
  std::vector<std::vector<std::byte>> memory;
  memory.reserve(inputs.size() + fused(i).getOutputs().size());
  for (const HostTensor &input : inputs)
    memory.push_back(*reference::encodeRaw(input));
  for (Value out : fused(i).getOutputs())
    memory.push_back(*reference::encodeRaw(
        HostTensor(cast<RankedTensorType>(out.getType()))));
  std::vector<void *> buffers;
  buffers.reserve(memory.size());
  for (auto &bytes : memory)
    buffers.push_back(bytes.data());
  cuts.insert(cuts.begin(), 0);
  cuts.push_back(info(i).workItems);
  // The last range first: the order must not matter either.
  for (size_t c = cuts.size() - 1; c > 0; --c)
    library->function(i)(buffers.data(), cuts[c - 1], cuts[c]);
  if (const char *folder = std::getenv("HALFTONE_RECORD_KERNELS");
      folder && cuts.size() == 2 && info(i).workItems)
    record(folder, memory, i);
  std::vector<HostTensor> results;
  for (auto [n, out] : llvm::enumerate(fused(i).getOutputs()))
    results.push_back(*reference::decodeRaw(
        cast<RankedTensorType>(out.getType()), memory[inputs.size() + n]));
  return results;
}

std::vector<HostTensor>
KernelModule::reference(const std::vector<HostTensor> &inputs, unsigned i) {
  reference::Interpreter interpreter;
  auto results = interpreter.run(fused(i), inputs);
  if (failed(results))
    return {};
  return {results->begin(), results->end()};
}

std::string KernelModule::ptx(unsigned sm) {
  ScopedDiagnosticHandler handler(
      &mlirContext, [&](Diagnostic &d) { diagnostic += d.str() + "\n"; });
  SmallVector<exec::KernelOp> kernels(module->getOps<exec::KernelOp>());
  auto generated =
      codegen::generate(kernels, {codegen::TargetSpec::Kind::Cuda, sm});
  return succeeded(generated) ? generated->code : std::string();
}

std::string assemble(const std::string &ptx, bool &ran) {
  static const std::string tool = [] {
    for (const char *path : {"ptxas", "/usr/local/cuda/bin/ptxas"})
      if (std::system((std::string("command -v ") + path + " > /dev/null 2>&1")
                          .c_str()) == 0)
        return std::string(path);
    return std::string();
  }();
  ran = !tool.empty();
  if (!ran)
    return "";
  auto stem = std::filesystem::temp_directory_path() /
              ("halftone_" + std::to_string(getpid()));
  std::string source = stem.string() + ".ptx", log = stem.string() + ".log";
  std::ofstream(source) << ptx;
  int status = std::system(
      (tool + " -O1 -arch=sm_90 -o /dev/null " + source + " > " + log + " 2>&1")
          .c_str());
  std::stringstream messages;
  messages << std::ifstream(log).rdbuf();
  std::filesystem::remove(source);
  std::filesystem::remove(log);
  return status == 0 ? "" : messages.str() + "(ptxas failed)";
}

double errorInRoundings(const HostTensor &actual, const HostTensor &expected,
                        double floor) {
  if (actual.getType() != expected.getType())
    return std::numeric_limits<double>::infinity();
  Type type = expected.getElementType();
  double epsilon = !actual.isFloat() ? 1
                   : type.isBF16()   ? 0x1p-8
                   : type.isF16()    ? 0x1p-11
                                     : 0x1p-24,
         worst = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    double a = actual.asDouble(i), b = roundTo(expected.asDouble(i), type);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    double error = std::abs(a - expected.asDouble(i)) /
                   (epsilon * std::max(std::abs(b), floor));
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity()
                              : std::max(worst, error);
  }
  return worst;
}

} // namespace halftone::testing
