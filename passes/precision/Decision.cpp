// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/Decision.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

/// Spelling does not matter: MatMul, mat_mul and matmul are one.
std::string plain(StringRef name) {
  std::string text;
  for (char c : name)
    if (c != '_')
      text += llvm::toLower(c);
  return text;
}

/// The mnemonic of the operator that `name` means; empty where there is none.
std::string mnemonicOf(MLIRContext *context, StringRef name) {
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (op.getDialectNamespace() == "graph" &&
        op.hasInterface<PrecisionOpInterface>() &&
        plain(op.stripDialect()) == plain(name))
      return op.stripDialect().str();
  return "";
}

StringRef listName(PrecisionClass list) {
  switch (list) {
  case PrecisionClass::Allow:
    return "allow";
  case PrecisionClass::Infer:
    return "infer";
  case PrecisionClass::Clear:
    return "clear";
  case PrecisionClass::Deny:
  case PrecisionClass::DenyFp16:
    return "deny";
  case PrecisionClass::Untouched:
    return "untouched";
  }
  return "";
}

} // namespace

FailureOr<Wishes> Wishes::resolve(ProgramOp program,
                                  const PrecisionOptions &options) {
  Wishes wishes;
  bool valid = true;
  for (const ListEntry &entry : options.lists) {
    std::string mnemonic = mnemonicOf(program.getContext(), entry.op);
    if (mnemonic.empty()) {
      program.emitError("--") << listName(entry.list)
                              << ": there is no operator '" << entry.op << "'";
      valid = false;
      continue;
    }
    auto [it, inserted] =
        wishes.lists.try_emplace(mnemonic, List{entry.list, entry.source});
    if (!inserted && it->second.list != entry.list &&
        it->second.source == entry.source) {
      program.emitError("operator '")
          << entry.op << "' is on two lists: " << listName(it->second.list)
          << " and " << listName(entry.list);
      valid = false;
    } else if (entry.source == "user") {
      it->second = {entry.list,
                    entry.source}; // A user's word beats a policy's.
    }
  }
  for (const ColorEntry &entry : options.colors) {
    auto regex = std::make_shared<llvm::Regex>(entry.pattern);
    std::string error;
    if (!regex->isValid(error)) {
      program.emitError("--color: '")
          << entry.pattern << "' is no regular expression: " << error;
      valid = false;
    }
    wishes.patterns.push_back({entry.pattern,
                               regex,
                               {entry.color, entry.source},
                               std::make_shared<bool>(false)});
  }
  if (!valid)
    return failure();
  return wishes;
}

Wishes::List Wishes::listOf(Operation *op, Color low) const {
  // Indices, masks and shapes come out of any type as they are.
  if (llvm::none_of(op->getResultTypes(), isColoredType))
    return {PrecisionClass::Untouched, "default"};
  auto it = lists.find(op->getName().stripDialect());
  if (it != lists.end())
    return it->second;
  PrecisionClass list = cast<PrecisionOpInterface>(op).getPrecisionClass();
  if (list == PrecisionClass::DenyFp16)
    list = low == Color::Bf16 ? PrecisionClass::Infer : PrecisionClass::Deny;
  return {list, "default"};
}

std::optional<Wishes::Pin> Wishes::pinOf(StringRef name,
                                         StringRef nameSpace) const {
  std::optional<Pin> pin;
  for (const Pattern &pattern : patterns)
    if (pattern.regex->match(name) ||
        (!nameSpace.empty() && pattern.regex->match(nameSpace))) {
      *pattern.matched = true;
      pin = pattern.pin;
    }
  return pin;
}

std::vector<std::string> Wishes::unmatched() const {
  std::vector<std::string> list;
  for (const Pattern &pattern : patterns)
    if (!*pattern.matched)
      list.push_back(pattern.text);
  return list;
}

StringRef originOf(Operation *op) {
  auto origin = op->getAttrOfType<StringAttr>(kOrigin);
  return origin ? origin.getValue() : StringRef("forward");
}

StringRef namespaceOf(Operation *op) {
  auto path = op->getAttrOfType<StringAttr>(kNamespace);
  return path ? path.getValue() : StringRef();
}

bool isColoredType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor &&
         (tensor.getElementType().isF32() || tensor.getElementType().isF16() ||
          tensor.getElementType().isBF16());
}

bool isColorable(Operation *op) {
  return isa<PrecisionOpInterface>(op) &&
         (llvm::any_of(op->getOperandTypes(), isColoredType) ||
          llvm::any_of(op->getResultTypes(), isColoredType));
}

bool isFloatCast(Operation *op) {
  return isa_and_nonnull<CastOp>(op) && isColoredValue(op->getOperand(0)) &&
         isColoredValue(op->getResult(0));
}

bool computesWide(Operation *op) {
  auto precision = cast<PrecisionOpInterface>(op);
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (precision.keepsWide(i))
      return true;
  return false;
}

bool overflows(Value v, FloatType type) {
  auto constant = v.getDefiningOp<ConstantOp>();
  if (!constant)
    return false;
  auto values = dyn_cast<DenseFPElementsAttr>(constant.getValue());
  if (!values)
    return false;
  auto tooLarge = [&](APFloat x) {
    bool lossy;
    bool finite = x.isFinite();
    x.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lossy);
    return finite && !x.isFinite();
  };
  if (values.isSplat())
    return tooLarge(values.getSplatValue<APFloat>());
  return llvm::any_of(values.getValues<APFloat>(), tooLarge);
}

} // namespace halftone::passes
