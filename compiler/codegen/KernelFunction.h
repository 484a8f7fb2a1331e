// SPDX-License-Identifier: Apache-2.0
// One kernel while it is being emitted, and the forms that a kernel can take.
#pragma once
#include "compiler/codegen/AccessProbe.h"
#include "compiler/codegen/Codegen.h"
#include "mlir/IR/BuiltinOps.h"

namespace halftone::codegen {

/// Attribute names on graph.fused with the schedule "reduction".
inline constexpr llvm::StringLiteral kDomain = "domain", kReduced = "reduced";
/// On any graph.fused: pairs (input, output) that share memory.
inline constexpr llvm::StringLiteral kInPlace = "in_place";

/// Inputs, then outputs of a region.
llvm::SmallVector<mlir::Value> buffersOf(graph::FusedOp fused);

struct KernelFunction {
  /// Opens a kernel entry whose arguments are the buffers.
  static KernelFunction openCuda(mlir::ModuleOp module, graph::FusedOp fused,
                                 KernelInfo &info);
  /// Opens `void NAME(ptr, i64, i64)` and loads the pointers.
  static KernelFunction openCpu(mlir::ModuleOp module, graph::FusedOp fused,
                                KernelInfo &info);

  graph::FusedOp fused;
  mlir::Operation *function; ///< An llvm.func.
  mlir::OpBuilder b;         ///< At the end of the function's body.
  mlir::Location loc;
  llvm::SmallVector<mlir::Value>
      buffers; ///< Flat memrefs: inputs, then outputs.
  llvm::SmallVector<bool>
      writable;           ///< Inputs that share memory with an output.
  mlir::Value begin, end; ///< CPU: the work items, `index` values.
  KernelInfo &info;

  /// Fills `writable` from the region's `in_place`; fails with a diagnostic for
  /// a pair that the probe (none: any pair) does not allow.
  mlir::LogicalResult noteReuse(const AccessProbe *probe);
  /// Tells LLVM what it may rely on about a CUDA kernel's pointers: it then
  /// loads through the read-only path.
  void markArguments();
  llvm::SmallVector<unsigned> allOutputs() {
    return llvm::to_vector(llvm::seq<unsigned>(0, fused.getOutputs().size()));
  }
};

/// Emit the body of a kernel and fill its info; the domain is not empty. Errors
/// are emitted.
mlir::LogicalResult emitCpuPointwise(KernelFunction &kernel);
mlir::LogicalResult emitCpuReduction(KernelFunction &kernel,
                                     const AccessProbe &probe);
mlir::LogicalResult emitCpuScatter(KernelFunction &kernel);
mlir::LogicalResult emitCudaPointwise(KernelFunction &kernel);
mlir::LogicalResult emitCudaReduction(KernelFunction &kernel,
                                      const AccessProbe &probe);
mlir::LogicalResult emitCudaScatter(KernelFunction &kernel);

/// Opens the loop over the kernel's work items and goes inside; gives the
/// item's number. CPU only, once `info.workItems` is set.
mlir::Value enterItemLoop(ScalarBuilder &s, KernelFunction &kernel,
                          IndexForms &forms);

/// The outputs of a region that have one shape.
struct OutputGroup {
  llvm::SmallVector<int64_t> domain;
  llvm::SmallVector<unsigned> outputs;
};
/// By shape, in order of the first of each; empty shapes left out.
llvm::SmallVector<OutputGroup> groupOutputs(graph::FusedOp fused);
/// The space that a pointwise kernel's `group` is computed over; notes what may
/// share memory, which only a group `alone` in its kernel can be sure of. Fails
/// with a diagnostic.
mlir::FailureOr<Space> groupSpace(KernelFunction &kernel,
                                  const OutputGroup &group, bool alone);

} // namespace halftone::codegen
