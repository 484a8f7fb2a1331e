// SPDX-License-Identifier: Apache-2.0
// One kernel while it is being emitted, and the forms that a kernel can take.
#pragma once
#include "compiler/codegen/AccessProbe.h"
#include "compiler/codegen/Codegen.h"

namespace halftone::codegen {

/// Attribute names on graph.fused with the schedule "reduction".
inline constexpr llvm::StringLiteral kDomain = "domain", kReduced = "reduced";
/// On any graph.fused: pairs (input, output) that share memory.
inline constexpr llvm::StringLiteral kInPlace = "in_place";

struct KernelFunction {
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
