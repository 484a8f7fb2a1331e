// SPDX-License-Identifier: Apache-2.0
// Walks the block backwards, asking each op for its gradient. Rules are pure
// maths; sums are GradientMap's.
#include "passes/autodiff/BuildBackward.h"
#include "compiler/graph/Origin.h"
#include "passes/autodiff/GradientMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

bool isFloat(Value v) { return isa<FloatType>(elementTypeOf(v)); }

/// Float values that depend on a parameter: only their ops are differentiated.
llvm::DenseSet<Value> dependents(ProgramOp program,
                                 ArrayRef<Value> parameters) {
  llvm::DenseSet<Value> active(parameters.begin(), parameters.end());
  for (Operation &op : *program.getBody().begin())
    if (!op.hasTrait<NoGradient>() &&
        llvm::any_of(op.getOperands(),
                     [&](Value v) { return active.contains(v); }))
      for (Value result : op.getResults())
        if (isFloat(result))
          active.insert(result);
  return active;
}

SmallVector<NamedAttribute> backwardAttributes(OpBuilder &b, Operation *op) {
  SmallVector<NamedAttribute> list = {
      b.getNamedAttr(kOrigin, b.getStringAttr("backward")),
      b.getNamedAttr(kGradOf, b.getStringAttr(nodeName(op)))};
  if (auto precision = dyn_cast<PrecisionOpInterface>(op))
    list.push_back(
        b.getNamedAttr(kGradOfClass, b.getI64IntegerAttr(static_cast<int64_t>(
                                         precision.getPrecisionClass()))));
  if (Attribute path = op->getAttr(kNamespace))
    list.push_back(b.getNamedAttr(kNamespace, path));
  return list;
}

} // namespace

FailureOr<SmallVector<Value>> buildBackward(ProgramOp program, Value loss,
                                            Value seed,
                                            ArrayRef<Value> parameters) {
  Block &block = program.getBody().front();
  SmallVector<Operation *> forward =
      llvm::to_vector(llvm::make_pointer_range(block.getOperations()));
  llvm::DenseSet<Value> active = dependents(program, parameters);
  if (!active.contains(loss))
    return emitError(loss.getLoc(),
                     "the loss does not depend on any trainable parameter");

  OriginTagger tagger;
  OpBuilder builder = OpBuilder::atBlockEnd(&block, &tagger);
  GradientMap gradients;
  ImplicitLocOpBuilder seedBuilder(loss.getLoc(), builder);
  gradients.accumulate(seedBuilder, loss, seed);

  bool complete = true;
  for (Operation *op : llvm::reverse(forward)) {
    SmallVector<Value> outgoing;
    for (Value result : op->getResults())
      outgoing.push_back(gradients.lookup(result));
    if (llvm::none_of(outgoing, [](Value v) { return v != nullptr; }) ||
        llvm::none_of(op->getOperands(),
                      [&](Value v) { return active.contains(v); }))
      continue; // The loss does not depend on this op, or the op on no
                // parameter.
    auto rule = dyn_cast<DifferentiableOpInterface>(op);
    if (!rule) {
      op->emitError("operator '")
          << op->getName().stripDialect()
          << "' has no gradient rule, and the loss depends on it";
      complete = false;
      continue;
    }
    tagger.setAttributes(backwardAttributes(builder, op));
    ImplicitLocOpBuilder b(
        NameLoc::get(builder.getStringAttr("grad of " + nodeName(op))),
        builder);
    SmallVector<Value> incoming = rule.buildVjp(b, outgoing);
    for (auto [operand, gradient] :
         llvm::zip_equal(op->getOperands(), incoming))
      if (gradient && active.contains(operand))
        gradients.accumulate(b, operand, gradient);
  }
  if (!complete)
    return failure();
  SmallVector<Value> result;
  for (Value parameter : parameters)
    result.push_back(gradients.lookup(parameter));
  return result;
}

} // namespace halftone::passes
