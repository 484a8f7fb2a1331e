// SPDX-License-Identifier: Apache-2.0
// Whether a graph exported for one batch size computes the same for another.
#pragma once
#include "frontends/onnx/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"

namespace halftone::onnx_frontend {

/// Compares the programs of one graph imported with `oldBatch` and with
/// `newBatch`. It is the same computation, sample for sample, if the ops are
/// the same, every value keeps its rank, and at most one dimension of it
/// differs, from k times the old to k times the new batch; a reshape must keep
/// that dimension behind as many elements as before, and only reductions may
/// lose it. Returns a line for each node where that does not hold.
std::vector<std::string> findBatchDependence(mlir::ModuleOp oldProgram,
                                             mlir::ModuleOp newProgram,
                                             int64_t oldBatch,
                                             int64_t newBatch);

} // namespace halftone::onnx_frontend
