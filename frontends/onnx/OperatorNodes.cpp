// SPDX-License-Identifier: Apache-2.0
// Nodes that are an op of the same name: which inputs become operands and which
// attributes.
#include "compiler/graph/BuildByName.h"
#include "frontends/onnx/NodeImporter.h"

using namespace mlir;
using onnx::AttributeProto, onnx::OpSchema;

namespace halftone::onnx_frontend {

/// A bias of zeros adds nothing: exporters make one for each Conv without bias.
static bool isZeroBias(const OpSchema::FormalParameter &formal,
                       const Imported &input) {
  return (formal.GetName() == "B" || formal.GetName() == "C") &&
         formal.GetOption() == OpSchema::Optional && input.constant &&
         input.constant->isFloat() &&
         llvm::all_of(input.constant->floats, [](double x) { return x == 0; });
}

bool NodeImporter::addConstantInput(const Node &node, StringRef op,
                                    const std::string &name,
                                    const Imported &input,
                                    Attributes &attributes) {
  if (!input.constant) {
    fail(node, "input '" + name +
                   "' must be a constant, but it depends on the model's inputs "
                   "or parameters");
    return false;
  }
  Attribute fitted = fitAttribute(context, op, name,
                                  AttributeValue{input.hostTensor(), false});
  if (fitted)
    attributes.emplace_back(StringAttr::get(context, name), fitted);
  else
    fail(node,
         "input '" + name + "' has a type or shape that is not supported");
  return static_cast<bool>(fitted);
}

bool NodeImporter::readInputs(const Node &node, StringRef op,
                              SmallVector<SmallVector<Imported>> &groups,
                              Attributes &attributes) {
  ArrayRef<StringAttr> declared = graph::attributeNames(context, op);
  const auto &formals = node.schema.inputs();
  bool complete = true;
  for (size_t i = 0; i < formals.size(); ++i) {
    const OpSchema::FormalParameter &formal = formals[i];
    SmallVector<Imported> group;
    for (size_t k = i; k < node.inputs.size() &&
                       (k == i || formal.GetOption() == OpSchema::Variadic);
         ++k)
      if (const Imported *input = node.inputs[k];
          input && !isZeroBias(formal, *input))
        group.push_back(*input);
    if (llvm::any_of(group,
                     [](const Imported &input) { return !input.isTensor(); })) {
      fail(node, "input '" + formal.GetName() + "' is a sequence");
      complete = false;
    } else if (!llvm::is_contained(
                   declared, StringAttr::get(context, formal.GetName()))) {
      groups.push_back(std::move(group));
    } else if (!group.empty()) {
      complete &=
          addConstantInput(node, op, formal.GetName(), group[0], attributes);
    }
  }
  return complete;
}

bool NodeImporter::addAttribute(const Node &node, StringRef op,
                                const AttributeProto &proto,
                                Attributes &attributes) {
  std::optional<AttributeValue> value =
      readAttribute(context, proto, external, log);
  Attribute fitted =
      value ? fitAttribute(context, op, proto.name(), *value) : Attribute();
  if (fitted)
    attributes.emplace_back(StringAttr::get(context, proto.name()), fitted);
  else
    fail(node,
         "attribute '" + proto.name() + "' has a value that is not supported");
  return static_cast<bool>(fitted);
}

bool NodeImporter::readAttributes(const Node &node, StringRef op,
                                  Attributes &attributes) {
  ArrayRef<StringAttr> declared = graph::attributeNames(context, op);
  auto isDeclared = [&](StringRef name) {
    return llvm::is_contained(declared, StringAttr::get(context, name));
  };
  const auto &formals = node.schema.attributes();
  bool complete = true;
  for (const AttributeProto &proto : node.proto.attribute()) {
    if (isDeclared(proto.name())) {
      complete &= addAttribute(node, op, proto, attributes);
      continue;
    }
    auto formal = formals.find(proto.name());
    if (formal == formals.end() ||
        !sameAttribute(formal->second.default_value, proto)) {
      fail(node, "attribute '" + proto.name() + "' is not supported");
      complete = false;
    }
  }
  // Defaults are those of the model's opset.
  for (const auto &[name, formal] : formals) {
    if (node.attribute(name))
      continue;
    if (formal.required) {
      fail(node, "attribute '" + name + "' is missing");
      complete = false;
    } else if (formal.default_value.type() != AttributeProto::UNDEFINED &&
               isDeclared(name)) {
      complete &= addAttribute(node, op, formal.default_value, attributes);
    }
  }
  addImplied(node, isDeclared, attributes);
  return complete;
}

void NodeImporter::addImplied(const Node &node,
                              llvm::function_ref<bool(StringRef)> isDeclared,
                              Attributes &attributes) {
  Builder b(context);
  auto add = [&](StringRef name, int64_t value) {
    attributes.push_back(b.getNamedAttr(
        name,
        b.getIntegerAttr(b.getIntegerType(64, /*isSigned=*/true), value)));
  };
  if (isDeclared("opset"))
    add("opset", options.opset);
  // Split-13 into equal parts says how many only by its outputs.
  bool hasCount = llvm::any_of(attributes, [](NamedAttribute a) {
    return a.getName() == "num_outputs" || a.getName() == "split";
  });
  if (isDeclared("num_outputs") && !hasCount)
    add("num_outputs", node.proto.output_size());
}

NodeImporter::Results NodeImporter::importOperator(const Node &node) {
  std::string op = operatorName(node.proto.op_type());
  SmallVector<SmallVector<Imported>> groups;
  Attributes attributes;
  bool inputs = readInputs(node, op, groups, attributes);
  if (!readAttributes(node, op, attributes) || !inputs)
    return std::nullopt;
  if (std::optional<unsigned> segments = operandSegments(context, op)) {
    for (size_t i = *segments; i < groups.size(); ++i)
      if (!groups[i].empty())
        return fail(node, "input '" + node.schema.inputs()[i].GetName() +
                              "' is not supported");
    groups.resize(*segments);
  }
  return emitter.emit(node.loc, op, groups, attributes);
}

} // namespace halftone::onnx_frontend
