// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using onnx::AttributeProto;

namespace halftone::onnx_frontend {

std::optional<AttributeValue> readAttribute(MLIRContext *context,
                                            const AttributeProto &attribute,
                                            ExternalData &external,
                                            DiagnosticLog &log) {
  AttributeValue out;
  switch (attribute.type()) {
  case AttributeProto::INT:
    out.value = std::vector<int64_t>{attribute.i()};
    return out;
  case AttributeProto::FLOAT:
    out.value = std::vector<double>{attribute.f()};
    return out;
  case AttributeProto::STRING:
    out.value = std::vector<std::string>{attribute.s()};
    return out;
  case AttributeProto::INTS:
    return AttributeValue{
        std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end()),
        true};
  case AttributeProto::FLOATS:
    return AttributeValue{std::vector<double>(attribute.floats().begin(),
                                              attribute.floats().end()),
                          true};
  case AttributeProto::STRINGS:
    return AttributeValue{std::vector<std::string>(attribute.strings().begin(),
                                                   attribute.strings().end()),
                          true};
  case AttributeProto::TENSOR: {
    std::optional<TensorContent> content =
        decodeTensor(attribute.t(), external, log);
    if (content && content->missing) {
      external.noteMissing(attribute.t());
      return std::nullopt;
    }
    if (!content)
      return std::nullopt;
    out.value = toHostTensor(context, *content);
    return out;
  }
  default:
    log.error("attribute '" + attribute.name() +
              "' is of a kind that is not supported (" +
              AttributeProto::AttributeType_Name(attribute.type()) + ")");
    return std::nullopt;
  }
}

namespace {

/// All forms that a value could take, the likeliest first.
class Candidates {
public:
  explicit Candidates(MLIRContext *context) : b(context) {}

  SmallVector<Attribute> of(const AttributeValue &value) {
    if (const auto *ints = std::get_if<std::vector<int64_t>>(&value.value))
      addInts(*ints, value.isList);
    else if (const auto *floats =
                 std::get_if<std::vector<double>>(&value.value))
      addFloats(*floats, value.isList);
    else if (const auto *strings =
                 std::get_if<std::vector<std::string>>(&value.value))
      addStrings(*strings, value.isList);
    else if (const auto *tensor = std::get_if<HostTensor>(&value.value))
      addTensor(*tensor);
    return std::move(forms);
  }

private:
  void addInts(ArrayRef<int64_t> ints, bool isList) {
    if (isList)
      forms.append({b.getDenseI64ArrayAttr(ints), b.getI64ArrayAttr(ints)});
    if (ints.size() != 1)
      return;
    forms.append({b.getIntegerAttr(b.getIntegerType(64, true), ints[0]),
                  b.getBoolAttr(ints[0] != 0), b.getI64IntegerAttr(ints[0]),
                  b.getF32FloatAttr(static_cast<float>(ints[0]))});
    if (Type type = elementType(b.getContext(), static_cast<int32_t>(ints[0])))
      forms.push_back(TypeAttr::get(type));
    if (!isList)
      forms.push_back(b.getDenseI64ArrayAttr(ints));
  }

  void addFloats(ArrayRef<double> floats, bool isList) {
    SmallVector<float> narrow(floats.begin(), floats.end());
    if (isList)
      forms.append({b.getDenseF32ArrayAttr(narrow),
                    b.getDenseF64ArrayAttr(floats), b.getF32ArrayAttr(narrow)});
    if (floats.size() == 1)
      forms.append(
          {b.getF32FloatAttr(narrow[0]), b.getF64FloatAttr(floats[0])});
  }

  void addStrings(ArrayRef<std::string> strings, bool isList) {
    SmallVector<StringRef> refs(strings.begin(), strings.end());
    if (isList)
      forms.push_back(b.getStrArrayAttr(refs));
    else
      forms.push_back(b.getStringAttr(refs[0]));
  }

  void addTensor(const HostTensor &tensor) {
    if (tensor.getRank() <= 1 && tensor.isFloat())
      addFloats(tensor.floats, tensor.getRank() == 1);
    else if (tensor.getRank() <= 1)
      addInts(tensor.ints, tensor.getRank() == 1);
    forms.push_back(tensor.toAttr());
  }

  Builder b;
  SmallVector<Attribute> forms;
};

std::optional<RegisteredOperationName> lookup(MLIRContext *context,
                                              StringRef op) {
  return RegisteredOperationName::lookup(("graph." + op).str(), context);
}

} // namespace

Attribute fitAttribute(MLIRContext *context, StringRef op, StringRef name,
                       const AttributeValue &value) {
  auto registered = lookup(context, op);
  if (!registered)
    return {};
  ScopedDiagnosticHandler quiet(context,
                                [](mlir::Diagnostic &) { return success(); });
  for (Attribute form : Candidates(context).of(value)) {
    NamedAttrList list;
    list.append(name, form);
    if (succeeded(registered->verifyInherentAttrs(
            list, [&] { return emitError(UnknownLoc::get(context)); })))
      return form;
  }
  return {};
}

bool sameAttribute(const AttributeProto &a, const AttributeProto &b) {
  auto equal = [](const auto &x, const auto &y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  return a.type() == b.type() && a.i() == b.i() && a.f() == b.f() &&
         a.s() == b.s() && equal(a.ints(), b.ints()) &&
         equal(a.floats(), b.floats()) && equal(a.strings(), b.strings()) &&
         !a.has_t() && !b.has_t();
}

std::optional<unsigned> operandSegments(MLIRContext *context, StringRef op) {
  constexpr unsigned kMostGroups = 16;
  auto registered = lookup(context, op);
  if (!registered || !registered->hasTrait<OpTrait::AttrSizedOperandSegments>())
    return std::nullopt;
  ScopedDiagnosticHandler quiet(context,
                                [](mlir::Diagnostic &) { return success(); });
  SmallVector<std::max_align_t> storage(
      registered->getOpPropertyByteSize() / sizeof(std::max_align_t) + 1);
  OpaqueProperties properties(storage.data());
  registered->initOpProperties(properties, OpaqueProperties(nullptr));
  auto destroy = llvm::make_scope_exit(
      [&] { registered->destroyOpProperties(properties); });
  Builder b(context);
  for (unsigned groups = 1; groups <= kMostGroups; ++groups) {
    SmallVector<int32_t> sizes(groups, 0);
    auto attribute = b.getDictionaryAttr(
        b.getNamedAttr("operandSegmentSizes", b.getDenseI32ArrayAttr(sizes)));
    if (succeeded(registered->setOpPropertiesFromAttribute(
            *registered, properties, attribute,
            [&] { return emitError(UnknownLoc::get(context)); })))
      return groups;
  }
  return std::nullopt;
}

} // namespace halftone::onnx_frontend
