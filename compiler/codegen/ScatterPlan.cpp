// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/ScatterPlan.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::codegen {

FailureOr<ScatterPlan> planScatter(graph::FusedOp fused) {
  SmallVector<Operation *> found;
  for (Operation &op : fused.getBody().front())
    if (isa<ScatterOpInterface>(op))
      found.push_back(&op);
  if (found.size() != 1)
    return fused.emitOpError("with the schedule 'scatter' holds ")
               << found.size() << " scatter ops, must be one",
           failure();
  Operation *op = found.front();
  auto scatter = cast<ScatterOpInterface>(op);
  ArrayRef<int64_t> shape = graph::shapeOf(op->getResult(0));
  ScatterPlan plan{op,
                   op->getOperand(scatter.getIndicesOperand()),
                   op->getOperand(scatter.getUpdatesOperand()),
                   0,
                   0,
                   0};
  plan.count = graph::numElements(graph::shapeOf(plan.indices));
  bool fits = shape.size() == 2 &&
              graph::shapeOf(plan.updates) ==
                  ArrayRef<int64_t>({plan.count, shape[1]}) &&
              isa<FloatType>(graph::elementTypeOf(op->getResult(0)));
  if (!fits)
    return op->emitOpError("does not add float updates [n, width] to rows of a "
                           "result [rows, width]"),
           failure();
  plan.rows = shape[0];
  plan.width = shape[1];
  for (Value out : fused.getOutputs())
    if (graph::shapeOf(out) != shape)
      return fused.emitOpError("with the schedule 'scatter' yields ")
                 << out.getType() << " beside " << op->getResult(0).getType(),
             failure();
  return plan;
}

Value emitScatterRow(ScalarBuilder &s, Pull &pull, const ScatterPlan &plan,
                     Value n) {
  Value number = pull.at(s.b, plan.indices,
                         s.delinearize(n, graph::shapeOf(plan.indices)));
  number = s.convert(number, s.b.getI64Type());
  Value fromEnd = s.add(number, s.constantInt(plan.rows, s.b.getI64Type()));
  Value negative =
      s.compare(Compare::Less, number, s.constantInt(0, s.b.getI64Type()));
  return s.toIndex(s.select(negative, fromEnd, number));
}

bool isResultAt(const ScatterPlan &plan, IndexForms &forms, Value v,
                ValueRange index, Value row, Value column) {
  // Where there is one row or column only, an index is 0 whatever it was.
  auto isSame = [&](Value a, Value b, int64_t extent) {
    return extent == 1 || forms.of(a) == forms.of(b);
  };
  return v.getDefiningOp() == plan.op && isSame(index[0], row, plan.rows) &&
         isSame(index[1], column, plan.width);
}

} // namespace halftone::codegen
