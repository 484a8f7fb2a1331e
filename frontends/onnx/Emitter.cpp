// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Emitter.h"
#include "compiler/graph/BuildByName.h"
#include "compiler/graph/GraphDialect.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace halftone::onnx_frontend {
namespace {

/// Above it a constant expression stays in the program: an Expand of a small constant costs less as an index map.
constexpr int64_t kMostFoldedElements = int64_t(1) << 22;
/// Above it a float constant is kept with the weights.
constexpr int64_t kMostPrintedElements = 1024;

bool isSplat(const HostTensor &tensor) {
  return llvm::all_of(tensor.floats, [&](double x) { return x == tensor.floats[0]; });
}

} // namespace

RankedTensorType Imported::type() const {
  return constant ? constant->getType() : cast<RankedTensorType>(value.getType());
}

Emitter::Emitter(Block *block, MLIRContext *context, WeightStore &constants) : b(context), constants(constants) {
  b.setInsertionPointToEnd(block);
}

Value Emitter::materialize(Location loc, const Imported &tensor) {
  if (tensor.value)
    return tensor.value;
  const HostTensor &host = *tensor.constant;
  auto [entry, isNew] = written.try_emplace(&host);
  if (!isNew)
    return entry->second.second;
  Operation *op;
  if (!host.isFloat() || host.size() <= kMostPrintedElements || isSplat(host)) {
    op = b.create<graph::ConstantOp>(loc, host.getType(), host.toAttr());
  } else {
    Weight weight;
    weight.name = tensor.name;
    for (int i = 0; weight.name.empty() || constants.find(weight.name); ++i)
      weight.name = "constant_" + std::to_string(i);
    StringAttr name = b.getStringAttr(weight.name);
    weight.role = WeightRole::Constant;
    weight.shape.assign(host.getShape().begin(), host.getShape().end());
    weight.data.assign(host.floats.begin(), host.floats.end());
    constants.add(std::move(weight));
    op = b.create<graph::ParameterOp>(loc, host.getType(), name, b.getStringAttr(toString(WeightRole::Constant)));
  }
  entry->second = {tensor.constant, op->getResult(0)};
  return op->getResult(0);
}

FailureOr<std::optional<SmallVector<Imported>>> Emitter::tryEvaluate(Location loc, StringRef op, Groups operands,
                                                                     ArrayRef<NamedAttribute> attributes) {
  // The op is built over placeholders of the operands' types in a block of its own, asked, and thrown away.
  Block scratch;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&scratch);
  SmallVector<SmallVector<Value>> placeholders;
  SmallVector<HostTensor> values;
  for (const auto &group : operands) {
    auto &row = placeholders.emplace_back();
    for (const Imported &operand : group) {
      row.push_back(b.create<graph::InputOp>(loc, operand.type(), "constant", "data"));
      values.push_back(*operand.constant);
    }
  }
  FailureOr<Operation *> built = graph::buildByName(b, loc, op, placeholders, attributes);
  if (failed(built))
    return failure();
  auto reference = dyn_cast<ReferenceOpInterface>(*built);
  bool small = llvm::all_of((*built)->getResultTypes(), [](Type type) {
    return cast<RankedTensorType>(type).getNumElements() <= kMostFoldedElements;
  });
  if (!reference || !small)
    return std::optional<SmallVector<Imported>>();
  SmallVector<HostTensor> results;
  if (failed(reference.evaluate(values, results)))
    return failure();
  SmallVector<Imported> imported;
  for (HostTensor &result : results)
    imported.emplace_back(std::move(result));
  return std::optional<SmallVector<Imported>>(std::move(imported));
}

FailureOr<SmallVector<Imported>> Emitter::emit(Location loc, StringRef op, Groups operands, ArrayRef<NamedAttribute> attributes) {
  auto known = [](const Imported &operand) { return static_cast<bool>(operand.constant); };
  bool any = llvm::any_of(operands, [](const auto &group) { return !group.empty(); });
  if (any && llvm::all_of(operands, [&](const auto &group) { return llvm::all_of(group, known); })) {
    auto evaluated = tryEvaluate(loc, op, operands, attributes);
    if (failed(evaluated))
      return failure();
    if (*evaluated)
      return std::move(**evaluated);
  }
  SmallVector<SmallVector<Value>> values;
  for (const auto &group : operands) {
    auto &row = values.emplace_back();
    for (const Imported &operand : group)
      row.push_back(materialize(loc, operand));
  }
  FailureOr<Operation *> built = graph::buildByName(b, loc, op, values, attributes);
  if (failed(built))
    return failure();
  for (NamedAttribute attribute : opAttributes)
    (*built)->setDiscardableAttr(attribute.getName(), attribute.getValue());
  SmallVector<Imported> results;
  for (Value result : (*built)->getResults())
    results.emplace_back(result);
  return results;
}

FailureOr<Imported> Emitter::emitOne(Location loc, StringRef op, ArrayRef<Imported> operands, ArrayRef<NamedAttribute> attributes) {
  SmallVector<SmallVector<Imported>> groups;
  for (const Imported &operand : operands)
    groups.push_back({operand});
  auto results = emit(loc, op, groups, attributes);
  if (failed(results))
    return failure();
  return results->front();
}

FailureOr<Imported> Emitter::reshape(Location loc, const Imported &tensor, ArrayRef<int64_t> shape) {
  if (tensor.type().getShape() == shape)
    return tensor;
  return emitOne(loc, "reshape", {tensor}, {b.getNamedAttr("shape", b.getDenseI64ArrayAttr(shape))});
}

} // namespace halftone::onnx_frontend
