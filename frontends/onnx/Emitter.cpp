// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Emitter.h"
#include "compiler/graph/BuildByName.h"
#include "compiler/graph/GraphOps.h"
#include "frontends/onnx/TensorData.h"

using namespace mlir;

namespace halftone::onnx_frontend {
namespace {

/// Above it a constant expression stays in the program: an Expand of a small
/// constant costs less as an index map.
constexpr int64_t kMostFoldedElements = int64_t(1) << 22;
/// Above it a float constant is kept with the weights.
constexpr int64_t kMostPrintedElements = 1024;

} // namespace

RankedTensorType Imported::type() const {
  return constant ? RankedTensorType::get(shape, constant->getElementType())
                  : cast<RankedTensorType>(value.getType());
}

Emitter::Emitter(Block *block, MLIRContext *context, WeightStore &constants)
    : b(context), constants(constants) {
  b.setInsertionPointToEnd(block);
}

Imported Emitter::pooled(Imported tensor) {
  if (tensor.constant)
    tensor.constant = pool.intern(tensor.constant);
  return tensor;
}

Value Emitter::writeConstant(Location loc, const Imported &tensor) {
  const HostTensor &host = *tensor.constant;
  if (host.size() == 1) {
    // A splat says its shape at no cost.
    DenseElementsAttr one = host.toAttr();
    return b.create<graph::ConstantOp>(loc, tensor.type(),
                                       one.resizeSplat(tensor.type()));
  }
  if (!host.isFloat() || host.size() <= kMostPrintedElements)
    return b.create<graph::ConstantOp>(loc, host.getType(), host.toAttr());
  Weight weight;
  weight.name = tensor.name;
  for (int i = 0; weight.name.empty() || constants.find(weight.name); ++i)
    weight.name = "constant_" + std::to_string(i);
  weight.role = WeightRole::Constant;
  weight.shape.assign(host.getShape().begin(), host.getShape().end());
  weight.data.assign(host.floats.begin(), host.floats.end());
  StringAttr name = b.getStringAttr(weight.name);
  constants.add(std::move(weight));
  return b.create<graph::ParameterOp>(
      loc, host.getType(), name,
      b.getStringAttr(toString(WeightRole::Constant)));
}

Value Emitter::materialize(Location loc, const Imported &tensor) {
  if (tensor.value)
    return tensor.value;
  const Imported constant = pooled(tensor);
  auto [entry, isNew] = written.try_emplace(
      {constant.constant.get(),
       std::vector<int64_t>(tensor.shape.begin(), tensor.shape.end())});
  if (!isNew)
    return entry->second;
  Value value = writeConstant(loc, constant);
  if (value.getType() != constant.type()) {
    auto expand = b.create<graph::ExpandOp>(
        loc, constant.type(), value, b.getDenseI64ArrayAttr(constant.shape));
    for (NamedAttribute attribute : opAttributes)
      expand->setDiscardableAttr(attribute.getName(), attribute.getValue());
    value = expand;
  }
  return entry->second = value;
}

Emitter::Question Emitter::question(StringRef op, Groups operands,
                                    Attributes attributes) {
  Question question{op.str(),
                    b.getDictionaryAttr(attributes).getAsOpaquePointer()};
  for (const auto &group : operands) {
    question.push_back(static_cast<int64_t>(group.size()));
    for (const Imported &operand : group) {
      question.push_back(static_cast<const void *>(operand.constant.get()));
      question.insert(question.end(), operand.shape.begin(),
                      operand.shape.end());
    }
  }
  return question;
}

FailureOr<Operation *> Emitter::buildScratch(Block &scratch, Location loc,
                                             StringRef op, Groups operands,
                                             Attributes attributes,
                                             bool shrunk) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&scratch);
  SmallVector<SmallVector<Value>> placeholders;
  for (const auto &group : operands) {
    auto &row = placeholders.emplace_back();
    for (const Imported &operand : group)
      row.push_back(b.create<graph::InputOp>(
          loc, shrunk ? operand.constant->getType() : operand.type(),
          "constant", "data"));
  }
  return graph::buildByName(b, loc, op, placeholders, attributes);
}

/// `operand` broadcast to `shape`: its tensor gets leading axes, nothing is
/// copied out.
static Imported expanded(const Imported &operand, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> core(shape.size() - operand.shape.size(), 1);
  llvm::append_range(core, operand.constant->getShape());
  HostTensor tensor(
      RankedTensorType::get(core, operand.constant->getElementType()));
  tensor.floats = operand.constant->floats;
  tensor.ints = operand.constant->ints;
  return Imported(std::make_shared<const HostTensor>(std::move(tensor)), shape);
}

static bool canFold(ArrayRef<int64_t> shape) {
  return checkedSize(shape).value_or(INT64_MAX) <= kMostFoldedElements;
}

FailureOr<SmallVector<Imported>> Emitter::evaluate(Location loc, StringRef op,
                                                   Groups operands,
                                                   Attributes attributes) {
  Block scratch, shrunkScratch;
  FailureOr<Operation *> built =
      buildScratch(scratch, loc, op, operands, attributes, /*shrunk=*/false);
  if (failed(built))
    return failure();
  auto shapes = llvm::map_to_vector((*built)->getResultTypes(), [](Type type) {
    return SmallVector<int64_t>(cast<RankedTensorType>(type).getShape());
  });
  if (isa<graph::ExpandOp>(*built))
    return SmallVector<Imported>{expanded(operands[0][0], shapes[0])};
  // An elementwise op need only see what differs.
  bool shrunk = isa<ScalarOpInterface>(*built);
  if (shrunk)
    built = buildScratch(shrunkScratch, loc, op, operands, attributes,
                         /*shrunk=*/true);
  auto reference =
      failed(built) ? nullptr : dyn_cast<ReferenceOpInterface>(*built);
  if (!reference || !llvm::all_of((*built)->getResultTypes(), [](Type type) {
        return canFold(cast<RankedTensorType>(type).getShape());
      }))
    return SmallVector<Imported>();
  SmallVector<HostTensor> values, results;
  for (const auto &group : operands)
    for (const Imported &operand : group) {
      if (!shrunk && !canFold(operand.shape))
        return SmallVector<Imported>();
      values.push_back(shrunk ? *operand.constant : operand.hostTensor());
    }
  if (failed(reference.evaluate(values, results)))
    return failure();
  SmallVector<Imported> imported;
  for (auto [result, shape] : llvm::zip_equal(results, shapes))
    imported.emplace_back(std::make_shared<const HostTensor>(std::move(result)),
                          shape);
  return imported;
}

FailureOr<SmallVector<Imported>>
Emitter::emit(Location loc, StringRef op, Groups given, Attributes attributes) {
  SmallVector<SmallVector<Imported>> operands;
  for (const auto &group : given)
    operands.push_back(llvm::map_to_vector(
        group, [&](const Imported &operand) { return pooled(operand); }));
  auto known = [](const Imported &operand) {
    return static_cast<bool>(operand.constant);
  };
  bool any =
      llvm::any_of(operands, [](const auto &group) { return !group.empty(); });
  if (any && llvm::all_of(operands, [&](const auto &group) {
        return llvm::all_of(group, known);
      })) {
    auto [answer, isNew] =
        answers.try_emplace(question(op, operands, attributes));
    if (isNew) {
      auto evaluated = evaluate(loc, op, operands, attributes);
      if (failed(evaluated)) {
        answers.erase(answer);
        return failure();
      }
      for (Imported &result : *evaluated)
        answer->second.push_back(pooled(std::move(result)));
    }
    if (!answer->second.empty())
      return answer->second;
  }
  SmallVector<SmallVector<Value>> values;
  for (const auto &group : operands) {
    auto &row = values.emplace_back();
    for (const Imported &operand : group)
      row.push_back(materialize(loc, operand));
  }
  FailureOr<Operation *> built =
      graph::buildByName(b, loc, op, values, attributes);
  if (failed(built))
    return failure();
  for (NamedAttribute attribute : opAttributes)
    (*built)->setDiscardableAttr(attribute.getName(), attribute.getValue());
  SmallVector<Imported> results;
  for (Value result : (*built)->getResults())
    results.emplace_back(result);
  return results;
}

FailureOr<Imported> Emitter::emitOne(Location loc, StringRef op,
                                     ArrayRef<Imported> operands,
                                     ArrayRef<NamedAttribute> attributes) {
  SmallVector<SmallVector<Imported>> groups;
  for (const Imported &operand : operands)
    groups.push_back({operand});
  auto results = emit(loc, op, groups, attributes);
  if (failed(results))
    return failure();
  return results->front();
}

FailureOr<Imported> Emitter::reshape(Location loc, const Imported &tensor,
                                     ArrayRef<int64_t> shape) {
  if (tensor.type().getShape() == shape)
    return tensor;
  return emitOne(loc, "reshape", {tensor},
                 {b.getNamedAttr("shape", b.getDenseI64ArrayAttr(shape))});
}

} // namespace halftone::onnx_frontend
