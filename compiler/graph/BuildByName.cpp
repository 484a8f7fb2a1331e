// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/BuildByName.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace halftone::graph {

std::string snakeCase(StringRef onnxName) {
  std::string out;
  for (size_t i = 0; i < onnxName.size(); ++i) {
    char c = onnxName[i];
    bool upper = llvm::isUpper(c);
    // A word starts at an upper-case letter behind a lower-case one or digit,
    // or at the last letter of an acronym before lower case.
    bool starts = upper && i > 0 &&
                  (!llvm::isUpper(onnxName[i - 1]) ||
                   (i + 1 < onnxName.size() && llvm::isLower(onnxName[i + 1])));
    if (starts)
      out += '_';
    out += llvm::toLower(c);
  }
  return out;
}

static std::optional<RegisteredOperationName> lookup(MLIRContext *context,
                                                     StringRef name) {
  return RegisteredOperationName::lookup(("graph." + name).str(), context);
}

bool isOperator(MLIRContext *context, StringRef name) {
  return lookup(context, name).has_value();
}

ArrayRef<StringAttr> attributeNames(MLIRContext *context, StringRef name) {
  auto op = lookup(context, name);
  return op ? op->getAttributeNames() : ArrayRef<StringAttr>();
}

FailureOr<Operation *> buildByName(OpBuilder &b, Location loc, StringRef name,
                                   ArrayRef<SmallVector<Value>> operandGroups,
                                   ArrayRef<NamedAttribute> attributes) {
  auto registered = lookup(b.getContext(), name);
  if (!registered)
    return emitError(loc, "unsupported operator '") << name << "'";
  auto inference = registered->getInterface<InferTypeOpInterface>();
  if (!inference)
    return emitError(loc, "'") << name << "' is no operator";

  OperationState state(loc, *registered);
  SmallVector<int32_t> segments;
  for (const SmallVector<Value> &group : operandGroups) {
    state.addOperands(group);
    segments.push_back(static_cast<int32_t>(group.size()));
  }
  state.addAttributes(attributes);
  if (registered->hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));

  // Properties hold what attributes became, defaults included; inference reads
  // them.
  SmallVector<std::max_align_t> storage(
      registered->getOpPropertyByteSize() / sizeof(std::max_align_t) + 1);
  OpaqueProperties properties(storage.data());
  registered->initOpProperties(properties, OpaqueProperties(nullptr));
  auto destroy = llvm::make_scope_exit(
      [&] { registered->destroyOpProperties(properties); });
  DictionaryAttr dictionary = state.attributes.getDictionary(b.getContext());
  auto complain = [&] { return emitError(loc); };
  if (registered->getOpPropertyByteSize() &&
      failed(registered->setOpPropertiesFromAttribute(*registered, properties,
                                                      dictionary, complain)))
    return failure();
  SmallVector<Type> types;
  if (failed(inference->inferReturnTypes(b.getContext(), loc, state.operands,
                                         dictionary, properties, {}, types)))
    return failure();
  state.addTypes(types);
  Operation *op = b.create(state);
  if (failed(verify(op))) {
    op->erase();
    return failure();
  }
  return op;
}

} // namespace halftone::graph
