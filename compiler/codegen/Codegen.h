// SPDX-License-Identifier: Apache-2.0
// Turns fused regions into the code of a plan: LLVM bitcode for the CPU, PTX
// for CUDA.
#pragma once
#include "compiler/exec/ExecOps.h"
#include "compiler/graph/GraphDialect.h"
#include <array>
#include <string>
#include <vector>

namespace halftone::codegen {

struct TargetSpec {
  enum class Kind { Cpu, Cuda };
  Kind kind = Kind::Cpu;
  unsigned sm = 90; ///< Compute capability of a CUDA target, 80 or above.
};

/// How a kernel is started. CPU: `void NAME(ptr buffers, i64 begin, i64 end)`
/// computes work items [begin, end); any partition of [0, workItems) gives
/// equal bits. CUDA: an entry whose arguments are the pointers. Both: inputs,
/// then outputs, each aligned to 16 bytes.
struct KernelInfo {
  std::string name;
  int64_t workItems =
      0; ///< CPU. 0 where the kernel has nothing to do, on either target.
  int64_t grain = 1; ///< CPU: the smallest range worth a thread.
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint32_t sharedBytes =
      0; ///< Dynamic shared memory; static memory is in the code.
  std::string schedule; ///< pointwise, row, column or scatter: the form that
                        ///< was chosen.
};

struct CodeModule {
  std::string code;
  std::vector<KernelInfo> kernels;
};

/// Generates all kernels into one module. Each exec.kernel holds one
/// graph.fused whose operands are the block's arguments, in order. Schedules of
/// graph.fused:
/// - "pointwise": elements of the results are independent; results of equal
/// shape share their work.
/// - "reduction": attributes `domain` (shape) and `reduced` (axes), both arrays
/// of i64. Every value of the body broadcasts to the domain;
///   reductions reduce exactly `reduced` and keep the axes.
/// - "scatter": one result, made by an op with ScatterOpInterface.
/// An attribute `in_place` lists pairs (input, output) that share memory, as
/// inputsOutputsMayReuse allows; no other buffers may overlap. Errors are
/// emitted at the op that cannot be generated, for all kernels; then nothing is
/// returned.
mlir::FailureOr<CodeModule> generate(llvm::ArrayRef<exec::KernelOp> kernels,
                                     const TargetSpec &target);

/// For each output of a pointwise or reduction region, the inputs whose memory
/// it may take over: same element type, and read nowhere but at the element
/// that is being written.
llvm::SmallVector<llvm::SmallVector<unsigned>>
inputsOutputsMayReuse(graph::FusedOp fused);

} // namespace halftone::codegen
