// SPDX-License-Identifier: Apache-2.0
// What the emitters of reductions hold, whatever their form and target.
#pragma once
#include "compiler/codegen/ReductionPlan.h"
#include "compiler/codegen/RunNest.h"
#include "compiler/graph/GraphOps.h"

namespace halftone::codegen {

struct ReductionEmitter {
  ReductionEmitter(KernelFunction &kernel, const ReductionPlan &plan)
      : kernel(kernel), plan(plan),
        pull(kernel.fused, kernel.buffers, kernel.writable, forms),
        nest(plan, forms) {}
  ReductionEmitter(const ReductionEmitter &) = delete;
  ReductionEmitter &operator=(const ReductionEmitter &) = delete;

  KernelFunction &kernel;
  const ReductionPlan &plan;
  IndexForms forms;
  Pull pull;
  RunNest nest;
};

/// Of kernels that are at one row at a time: what a reduction gave is read
/// where it is asked for at that row.
struct RowEmitter : ReductionEmitter {
  RowEmitter(KernelFunction &kernel, const ReductionPlan &plan)
      : ReductionEmitter(kernel, plan) {
    pull.setReader([this](mlir::OpBuilder &, mlir::Value v,
                          mlir::ValueRange index) -> mlir::Value {
      auto known = finished.find(v.getDefiningOp());
      return known != finished.end() && nest.isAtRow(index, graph::shapeOf(v))
                 ? known->second
                 : mlir::Value();
    });
  }

  /// Emitted before the loops that read them, the values are found there again.
  void pullRowValues(ScalarBuilder &s, size_t level) {
    for (mlir::Value v : plan.rowValues[level])
      pull.at(s.b, v, s.broadcastIndex(nest.rowIndex(s), graph::shapeOf(v)));
  }

  llvm::DenseMap<mlir::Operation *, mlir::Value> finished;
};

} // namespace halftone::codegen
