// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/ReductionPlan.h"
#include "compiler/codegen/Storage.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

/// Whether `v` has one element a row: extent 1 wherever the domain is reduced.
/// A value of more dimensions, that of a reshape, is none.
bool isRowValue(Value v, ArrayRef<int64_t> domain, ArrayRef<bool> reduced) {
  ArrayRef<int64_t> shape = graph::shapeOf(v);
  if (shape.size() > domain.size())
    return false;
  size_t missing = domain.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d)
    if (reduced[missing + d] && shape[d] != 1)
      return false;
  return true;
}

bool broadcastsTo(ArrayRef<int64_t> shape, ArrayRef<int64_t> domain) {
  if (shape.size() > domain.size())
    return false;
  for (auto [extent, target] :
       llvm::zip_equal(shape, domain.take_back(shape.size())))
    if (extent != 1 && extent != target)
      return false;
  return true;
}

LogicalResult checkReduction(Operation *op, ArrayRef<int64_t> domain,
                             ArrayRef<bool> reduced) {
  ArrayRef<int64_t> shape = graph::shapeOf(op->getOperand(0)),
                    result = graph::shapeOf(op->getResult(0));
  SmallVector<int64_t> axes = cast<ReductionOpInterface>(op).getReducedAxes();
  size_t missing = domain.size() - shape.size();
  bool fits = shape.size() <= domain.size() && result.size() == shape.size();
  for (size_t d = 0; fits && d < domain.size(); ++d) {
    bool isAxis = d >= missing &&
                  llvm::is_contained(axes, static_cast<int64_t>(d - missing));
    int64_t extent = d < missing ? 1 : shape[d];
    if (reduced[d] || isAxis)
      fits = extent == domain[d] && (extent == 1 || isAxis == reduced[d]);
  }
  if (fits)
    return success();
  return op->emitOpError("reduces axes [")
         << axes << "] of " << op->getOperand(0).getType() << " to "
         << op->getResult(0).getType() << " in a region whose domain is ["
         << domain << "]";
}

} // namespace

FailureOr<std::pair<SmallVector<int64_t>, SmallVector<bool>>>
reductionDomain(graph::FusedOp fused) {
  auto domain = fused->getAttrOfType<DenseI64ArrayAttr>(kDomain),
       axes = fused->getAttrOfType<DenseI64ArrayAttr>(kReduced);
  if (!domain || !axes)
    return fused.emitOpError("with the schedule '")
               << fused.getSchedule()
               << "' lacks the attribute 'domain' or 'reduced'",
           failure();
  SmallVector<bool> reduced(domain.size(), false);
  for (int64_t axis : axes.asArrayRef()) {
    if (axis < 0 || axis >= domain.size())
      return fused.emitOpError("reduced axis ")
                 << axis << " lies outside the domain of rank "
                 << domain.size(),
             failure();
    reduced[axis] = true;
  }
  return std::make_pair(SmallVector<int64_t>(domain.asArrayRef()), reduced);
}

FailureOr<ReductionPlan> planReductions(graph::FusedOp fused,
                                        const AccessProbe &probe) {
  auto axes = reductionDomain(fused);
  if (failed(axes))
    return failure();
  ReductionPlan plan;
  std::tie(plan.domain, plan.reduced) = *axes;
  for (auto [extent, isReduced] : llvm::zip_equal(plan.domain, plan.reduced))
    plan.count *= isReduced ? extent : 1;
  plan.space = probe.collapse(plan.reduced);

  llvm::DenseMap<Value, unsigned>
      passes; // How many must lie before the value is known.
  Block &body = fused.getBody().front();
  for (Operation &op : body.without_terminator()) {
    unsigned before = 0;
    for (Value operand : op.getOperands())
      before = std::max(before, passes.lookup(operand));
    bool isReduction = isa<ReductionOpInterface>(op);
    if (isReduction && failed(checkReduction(&op, plan.domain, plan.reduced)))
      return failure();
    for (Value result : op.getResults())
      passes[result] = before + isReduction;
    if (isReduction) {
      plan.levels.resize(std::max<size_t>(plan.levels.size(), before + 1));
      plan.levels[before].push_back(&op);
    }
  }
  auto isRow = [&](Value v) {
    return isRowValue(v, plan.domain, plan.reduced);
  };
  plan.rowValues.resize(plan.levels.size() + 1);
  for (Operation &op : body.without_terminator()) {
    if (isa<ReductionOpInterface, graph::ConstantOp>(op))
      continue;
    for (Value v : op.getResults()) {
      bool feedsElements = llvm::any_of(v.getUsers(), [&](Operation *user) {
        if (isa<ReductionOpInterface>(user))
          return true;
        return user != body.getTerminator() &&
               llvm::any_of(user->getResults(),
                            [&](Value r) { return !isRow(r); });
      });
      if (feedsElements && broadcastsTo(graph::shapeOf(v), plan.domain) &&
          isRow(v))
        plan.rowValues[passes[v]].push_back(v);
    }
  }
  for (auto [o, v] : llvm::enumerate(body.getTerminator()->getOperands())) {
    ArrayRef<int64_t> shape = graph::shapeOf(v);
    if (!broadcastsTo(shape, plan.domain))
      return fused.emitOpError("yields ")
                 << v.getType() << ", which does not broadcast to the domain ["
                 << plan.domain << "]",
             failure();
    bool row = isRow(v);
    int64_t expected = graph::numElements(plan.domain) /
                       (row ? std::max<int64_t>(1, plan.count) : 1);
    if (graph::numElements(shape) != expected)
      return fused.emitOpError("yields ")
                 << v.getType()
                 << ", which has neither all elements of the domain ["
                 << plan.domain << "] nor one for each row",
             failure();
    (row ? plan.rowOutputs : plan.fullOutputs).push_back(o);
  }
  return plan;
}

Accumulator::Accumulator(Operation *reduction, bool mayWiden) : op(reduction) {
  accumulatorType = scalarType(graph::elementTypeOf(reduction->getOperand(0)));
  if (!accumulatorType.isF32())
    return;
  // Emit a step on the side and look at it: what only selects does not round.
  auto step = [&](Type type, function_ref<bool(Operation &)> accept) {
    Block scratch;
    Location loc = op->getLoc();
    OpBuilder b(op->getContext());
    b.setInsertionPointToEnd(&scratch);
    ScalarBuilder s(b, loc);
    Value x = scratch.addArgument(type, loc),
          y = scratch.addArgument(type, loc);
    Value result = cast<ReductionOpInterface>(op).emitCombine(s, x, y);
    return result.getType() == type && llvm::all_of(scratch, accept);
  };
  isInexact = !step(accumulatorType, [](Operation &o) {
    return isa<arith::MaximumFOp, arith::MinimumFOp, arith::CmpFOp,
               arith::SelectOp, arith::ConstantOp>(o);
  });
  Type wide = Float64Type::get(op->getContext());
  if (isInexact && mayWiden && step(wide, [&](Operation &o) {
        return isa<arith::AddFOp, arith::MulFOp>(o);
      }))
    accumulatorType = wide;
}

Value Accumulator::init(OpBuilder &b) {
  ScalarBuilder s(b, op->getLoc());
  return s.convert(cast<ReductionOpInterface>(op).emitInit(s), accumulatorType);
}

Value Accumulator::combineElement(OpBuilder &b, Value accumulator,
                                  Value element) {
  ScalarBuilder s(b, op->getLoc());
  Value prepared = cast<ReductionOpInterface>(op).emitPrepare(s, element);
  return combine(s.b, accumulator, s.convert(prepared, accumulatorType),
                 /*reassociate=*/true);
}

Value Accumulator::combine(OpBuilder &b, Value x, Value y, bool reassociate) {
  ScalarBuilder s(b, op->getLoc());
  Value result = cast<ReductionOpInterface>(op).emitCombine(s, x, y);
  Operation *step = result.getDefiningOp();
  if (reassociate && accumulatorType.isF64() &&
      isa<arith::AddFOp, arith::MulFOp>(step))
    step->setAttr("fastmath",
                  arith::FastMathFlagsAttr::get(b.getContext(),
                                                arith::FastMathFlags::reassoc));
  return result;
}

Value Accumulator::finish(OpBuilder &b, Value accumulator, int64_t count) {
  ScalarBuilder s(b, op->getLoc());
  Type scalar = scalarType(graph::elementTypeOf(op->getOperand(0)));
  return cast<ReductionOpInterface>(op).emitFinish(
      s, s.convert(accumulator, scalar), count);
}

} // namespace halftone::codegen
