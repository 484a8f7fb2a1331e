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

namespace {

/// The operands that an op declares; type inference relies on them.
struct Declared {
  unsigned required = 0;
  bool more = false; ///< optional or variadic ones behind the required
};

/// Reads the count from the traits, which carry it in their names.
template <unsigned... N>
Declared declaredOperands(RegisteredOperationName op,
                          std::integer_sequence<unsigned, N...>) {
  Declared declared{1, op.hasTrait<OpTrait::VariadicOperands>()};
  if (op.hasTrait<OpTrait::ZeroOperands>())
    declared.required = 0;
  ((op.hasTrait<OpTrait::NOperands<N + 2>::template Impl>()
        ? void(declared = {N + 2, false})
        : void()),
   ...);
  ((op.hasTrait<OpTrait::AtLeastNOperands<N + 1>::template Impl>()
        ? void(declared = {N + 1, true})
        : void()),
   ...);
  return declared;
}

LogicalResult verifyOperands(Location loc, RegisteredOperationName op,
                             ArrayRef<SmallVector<Value>> groups) {
  if (op.hasTrait<OpTrait::AttrSizedOperandSegments>())
    return success(); // Inference sees the groups.
  Declared declared =
      declaredOperands(op, std::make_integer_sequence<unsigned, 8>());
  size_t given = 0;
  for (auto [i, group] : llvm::enumerate(groups)) {
    given += group.size();
    // All of a variadic operand are one group.
    if (i < declared.required && group.size() != 1 &&
        !(declared.more && i + 1 == declared.required && !group.empty()))
      return emitError(loc, "'")
             << op.stripDialect() << "' needs one value as operand " << i
             << ", has " << group.size();
  }
  if (given < declared.required ||
      (given > declared.required && !declared.more))
    return emitError(loc, "'")
           << op.stripDialect() << "' needs "
           << (declared.more ? "at least " : "")
           << (declared.required == 1
                   ? "one operand"
                   : std::to_string(declared.required) + " operands")
           << ", has " << given;
  return success();
}

/// Inference reads required attributes without asking. Which are required the
/// op's verifier knows alone, and says before it looks at any type: it is asked
/// about an op with made-up results.
LogicalResult verifyAttributes(OperationState &state,
                               RegisteredOperationName op) {
  if (llvm::all_of(op.getAttributeNames(), [&](StringAttr name) {
        return state.attributes.get(name) != nullptr;
      }))
    return success();
  bool two = op.hasTrait<OpTrait::NResults<2>::Impl>(),
       three = op.hasTrait<OpTrait::NResults<3>::Impl>(),
       four = op.hasTrait<OpTrait::NResults<4>::Impl>();
  Type madeUp =
      RankedTensorType::get({}, Float32Type::get(state.name.getContext()));
  state.types.assign(four ? 4 : three ? 3 : two ? 2 : 1, madeUp);
  Operation *draft = Operation::create(state);
  state.types.clear();
  std::string missing;
  {
    ScopedDiagnosticHandler handler(draft->getContext(), [&](Diagnostic &said) {
      if (std::string text = said.str();
          StringRef(text).contains("requires attribute"))
        missing = std::move(text);
      return success();
    });
    (void)op.verifyInvariants(draft);
  }
  draft->destroy();
  return missing.empty() ? success() : emitError(state.location, missing);
}

} // namespace

FailureOr<Operation *> buildByName(OpBuilder &b, Location loc, StringRef name,
                                   ArrayRef<SmallVector<Value>> operandGroups,
                                   ArrayRef<NamedAttribute> attributes) {
  auto registered = lookup(b.getContext(), name);
  if (!registered)
    return emitError(loc, "unsupported operator '") << name << "'";
  auto inference = registered->getInterface<InferTypeOpInterface>();
  if (!inference)
    return emitError(loc, "'") << name << "' is no operator";
  if (failed(verifyOperands(loc, *registered, operandGroups)))
    return failure();

  OperationState state(loc, *registered);
  SmallVector<int32_t> segments;
  for (const SmallVector<Value> &group : operandGroups) {
    state.addOperands(group);
    segments.push_back(static_cast<int32_t>(group.size()));
  }
  state.addAttributes(attributes);
  if (registered->hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));

  if (failed(verifyAttributes(state, *registered)))
    return failure();

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
