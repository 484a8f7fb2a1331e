// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/Interpreter.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::reference {
namespace {

using Values = DenseMap<Value, HostTensor>;

FailureOr<HostTensor> lookUp(Operation *op, StringRef kind, StringRef name,
                             Type type, const TensorMap &named) {
  auto found = named.find(name.str());
  if (found == named.end())
    return op->emitError("no tensor given for ") << kind << " '" << name << "'";
  if (!graph::haveSameShapes({Type(found->second.getType())}, {type}))
    return op->emitError("the tensor given for ")
           << kind << " '" << name << "' is " << found->second.getType()
           << ", expected " << type;
  return found->second;
}

/// The value of an input, parameter or state; nullopt for any other op.
std::optional<FailureOr<HostTensor>> sourceValue(Operation *op,
                                                 const TensorMap &named) {
  if (auto input = dyn_cast<graph::InputOp>(op))
    return lookUp(op, "input", input.getName(), input.getType(), named);
  if (auto parameter = dyn_cast<graph::ParameterOp>(op))
    return lookUp(op, "parameter", parameter.getName(), parameter.getType(),
                  named);
  if (auto state = dyn_cast<graph::StateOp>(op)) {
    if (named.count(state.getName().str()))
      return lookUp(op, "state", state.getName(), state.getType(), named);
    return initialValue(state);
  }
  return std::nullopt;
}

/// The name of a parameter or state, empty for other values.
StringRef nameOf(Value v) {
  if (auto parameter = v.getDefiningOp<graph::ParameterOp>())
    return parameter.getName();
  if (auto state = v.getDefiningOp<graph::StateOp>())
    return state.getName();
  return {};
}

LogicalResult assign(graph::AssignOp op, const HostTensor &value,
                     TensorMap &assigned) {
  Value target = op.getTarget();
  if (StringRef name = nameOf(target); !name.empty()) {
    assigned[name.str()] = value;
    return success();
  }
  auto pack = target.getDefiningOp<graph::PackOp>();
  if (!pack)
    return op.emitOpError("assigns to neither a parameter, a state nor a pack");
  for (auto [part, offset] :
       llvm::zip_equal(pack.getParts(), pack.getOffsets())) {
    StringRef name = nameOf(part);
    if (name.empty())
      return op.emitOpError("assigns to a pack of something computed");
    HostTensor slice(cast<RankedTensorType>(part.getType()));
    for (int64_t i = 0; i < slice.size(); ++i)
      if (slice.isFloat())
        slice.floats[i] = value.asDouble(offset + i);
      else
        slice.ints[i] = value.asInt(offset + i);
    assigned[name.str()] = std::move(slice);
  }
  return success();
}

FailureOr<SmallVector<HostTensor>> gather(Operation *op, const Values &values) {
  SmallVector<HostTensor> operands;
  for (Value v : op->getOperands()) {
    auto found = values.find(v);
    if (found == values.end())
      return op->emitOpError("reads a value that was not computed before it");
    operands.push_back(found->second);
  }
  return operands;
}

void record(Operation *op, SmallVector<HostTensor> results, Values &values) {
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results))
    values[result] = std::move(tensor);
}

} // namespace

FailureOr<HostTensor> initialValue(graph::StateOp state) {
  auto init = HostTensor::fromAttr(state.getInit());
  if (!init)
    return state.emitOpError("holds no dense numbers");
  HostTensor value(cast<RankedTensorType>(state.getType()));
  if (init->isFloat() != value.isFloat() ||
      (init->size() != value.size() && init->size() != 1))
    return state.emitOpError("starts at ")
           << init->getType() << ", which does not fill " << value.getType();
  for (int64_t i = 0; i < value.size(); ++i) {
    int64_t from = init->size() == 1 ? 0 : i;
    if (value.isFloat())
      value.floats[i] = init->floats[from];
    else
      value.ints[i] = init->ints[from];
  }
  return value;
}

FailureOr<SmallVector<HostTensor>>
Interpreter::evaluate(Operation *op, ArrayRef<HostTensor> operands) {
  SmallVector<HostTensor> results;
  for (auto [operand, tensor] : llvm::zip_equal(op->getOperands(), operands))
    if (!graph::haveSameShapes({operand.getType()}, {Type(tensor.getType())}))
      return op->emitOpError("is given ")
             << tensor.getType() << " for " << operand.getType();
  if (auto fused = dyn_cast<graph::FusedOp>(op)) {
    auto values = run(fused, operands);
    if (failed(values))
      return failure();
    results = std::move(*values);
  } else {
    auto reference = dyn_cast<ReferenceOpInterface>(op);
    if (!reference)
      return op->emitOpError("has no host reference");
    if (failed(reference.evaluate(operands, results)))
      return op->emitOpError("cannot be evaluated for these values");
  }
  if (results.size() != op->getNumResults())
    return op->emitOpError("evaluates to ")
           << results.size() << " results instead of " << op->getNumResults();
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results))
    if (!graph::haveSameShapes({result.getType()}, {Type(tensor.getType())}))
      return op->emitOpError("evaluates to ")
             << tensor.getType() << " instead of " << result.getType();
  if (roundResults)
    for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results))
      for (double &d : tensor.floats)
        d = roundTo(d, graph::elementTypeOf(result));
  if (afterOp)
    afterOp(op, operands, results);
  return results;
}

FailureOr<SmallVector<HostTensor>>
Interpreter::run(graph::FusedOp fused, ArrayRef<HostTensor> inputs) {
  Block &body = fused.getBody().front();
  if (body.getNumArguments() != inputs.size())
    return fused.emitOpError("has ")
           << body.getNumArguments() << " arguments but is given "
           << inputs.size() << " tensors";
  Values values;
  for (auto [argument, tensor] : llvm::zip_equal(body.getArguments(), inputs)) {
    if (!graph::haveSameShapes({argument.getType()}, {Type(tensor.getType())}))
      return fused.emitOpError("is given ")
             << tensor.getType() << " for " << argument.getType();
    values[argument] = tensor;
  }
  for (Operation &op : body) {
    auto operands = gather(&op, values);
    if (failed(operands))
      return failure();
    if (isa<graph::YieldOp>(op))
      return operands;
    auto results = evaluate(&op, *operands);
    if (failed(results))
      return failure();
    record(&op, std::move(*results), values);
  }
  return fused.emitOpError("does not yield");
}

FailureOr<RunResult> Interpreter::run(graph::ProgramOp program,
                                      const TensorMap &named) {
  RunResult result;
  Values values;
  for (Operation &op : program.getBody().front()) {
    if (auto source = sourceValue(&op, named)) {
      if (failed(*source))
        return failure();
      values[op.getResult(0)] = std::move(**source);
      continue;
    }
    auto operands = gather(&op, values);
    if (failed(operands))
      return failure();
    if (auto output = dyn_cast<graph::OutputOp>(op)) {
      result.outputs[output.getName().str()] = std::move((*operands)[0]);
    } else if (auto store = dyn_cast<graph::AssignOp>(op)) {
      if (failed(assign(store, (*operands)[1], result.assigned)))
        return failure();
    } else {
      auto results = evaluate(&op, *operands);
      if (failed(results))
        return failure();
      record(&op, std::move(*results), values);
    }
  }
  if (keepValues)
    result.values = std::move(values);
  return result;
}

} // namespace halftone::reference
