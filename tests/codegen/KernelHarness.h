// SPDX-License-Identifier: Apache-2.0
// Generates kernels from text, runs the CPU form on host tensors, and keeps the
// PTX form for inspection and ptxas.
#pragma once
#include "compiler/codegen/Codegen.h"
#include "compiler/interfaces/HostTensor.h"
#include "runtime/device/cpu/KernelLibrary.h"
#include <filesystem>

namespace halftone::testing {

/// One module of exec.kernel ops.
class KernelModule {
public:
  /// `text` holds exec.kernel ops; empty on a parse error, which is printed.
  explicit KernelModule(const std::string &text);

  explicit operator bool() const { return static_cast<bool>(module); }
  exec::KernelOp kernel(unsigned i = 0);
  graph::FusedOp fused(unsigned i = 0);
  mlir::MLIRContext *context() { return &mlirContext; }

  /// Generates for the CPU and compiles; false after an error, whose text is in
  /// `diagnostic`.
  bool compile();
  const codegen::KernelInfo &info(unsigned i = 0) const {
    return code.kernels[i];
  }

  /// With HALFTONE_RECORD_KERNELS=FOLDER in the environment, whole runs are
  /// kept for replay_cuda.py. Inputs rounded to the types of the fused region's
  /// operands by the caller. `cuts` are the borders between ranges of work
  /// items.
  std::vector<HostTensor> run(const std::vector<HostTensor> &inputs,
                              std::vector<int64_t> cuts = {}, unsigned i = 0);
  /// The same through `evaluate`, in double.
  std::vector<HostTensor> reference(const std::vector<HostTensor> &inputs,
                                    unsigned i = 0);

  /// PTX of all kernels, empty after an error.
  std::string ptx(unsigned sm = 90);

  std::string diagnostic;

private:
  void record(const std::filesystem::path &folder,
              const std::vector<std::vector<std::byte>> &memory, unsigned i);

  mlir::MLIRContext mlirContext;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  codegen::CodeModule code;
  std::unique_ptr<runtime::cpu::KernelLibrary> library;
};

/// Pseudo-random numbers in [low, high), rounded to the element type.
HostTensor randomTensor(mlir::Type type, uint64_t seed, double low = -2,
                        double high = 2);

/// Wraps a body into one kernel: `arguments` like "%x: tensor<4xf32>, ...",
/// `results` like "tensor<4xf32>".
std::string kernelText(const std::string &name, const std::string &schedule,
                       const std::string &arguments, const std::string &body,
                       const std::string &yielded, const std::string &results,
                       const std::string &attributes = "");

/// Assembles with ptxas where there is one. Empty if it accepts (or is missing,
/// which `ran` tells), else its messages.
std::string assemble(const std::string &ptx, bool &ran);

/// The largest error of any element in units of what one rounding to the
/// element type allows at that magnitude: |a - b| / (epsilon * max(|b|,
/// floor)). NaN and infinities must agree.
double errorInRoundings(const HostTensor &actual, const HostTensor &expected,
                        double floor = 1e-30);

} // namespace halftone::testing
