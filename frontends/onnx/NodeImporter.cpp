// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/NodeImporter.h"
#include "compiler/graph/BuildByName.h"
#include "frontends/onnx/Signature.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using onnx::AttributeProto, onnx::NodeProto, onnx::OpSchema;

namespace halftone::onnx_frontend {

const AttributeProto *NodeImporter::Node::attribute(StringRef name) const {
  for (const AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t NodeImporter::Node::integer(StringRef name, int64_t otherwise) const {
  const AttributeProto *found = attribute(name);
  return found ? found->i() : otherwise;
}

void NodeImporter::bind(StringRef name, Imported value) {
  value.name = name.str();
  values[name] = emitter.pooled(std::move(value));
}

const Imported *NodeImporter::find(StringRef name) const {
  auto found = values.find(name);
  return found == values.end() ? nullptr : &found->second;
}

static std::string describe(const NodeProto &node) { return "node '" + node.name() + "' (" + node.op_type() + ")"; }

NodeImporter::Results NodeImporter::fail(const Node &node, const Twine &why) {
  log.error(describe(node.proto) + ": " + why);
  return std::nullopt;
}

NodeImporter::Results NodeImporter::fromFailureOr(FailureOr<Imported> result) {
  if (mlir::failed(result))
    return std::nullopt;
  return SmallVector<Imported>{std::move(*result)};
}

void NodeImporter::importNode(const NodeProto &proto) {
  const OpSchema *schema = onnx::OpSchemaRegistry::Schema(proto.op_type(), static_cast<int>(options.opset), "");
  Node node{proto, *schema, NameLoc::get(StringAttr::get(context, proto.name())), {}};
  for (const std::string &input : proto.input()) {
    const Imported *value = input.empty() ? nullptr : find(input);
    if (!input.empty() && !value)
      return; // Its node failed; one error is enough.
    node.inputs.push_back(value);
  }
  Builder b(context);
  SmallVector<NamedAttribute> marks{b.getNamedAttr("origin", b.getStringAttr("forward"))};
  if (std::vector<std::string> scopes = moduleScopes(proto); !scopes.empty())
    marks.push_back(b.getNamedAttr("namespace", b.getStringAttr(scopes.back())));
  emitter.setOpAttributes(marks);

  std::string complaint;
  ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    complaint += (complaint.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  size_t errors = log.all().size();
  Results results = dispatch(node);
  if (results) {
    bindOutputs(node, *results);
    return;
  }
  if (!complaint.empty())
    fail(node, complaint);
  else if (log.all().size() == errors)
    fail(node, "cannot be imported");
  failed.push_back(proto.name());
}

NodeImporter::Results NodeImporter::dispatch(const Node &node) {
  if (std::optional<Resolved> kind = resolvedOperator(node.proto.op_type()))
    return importResolved(node, *kind);
  return importOperator(node);
}

NodeImporter::Results NodeImporter::importResolved(const Node &node, Resolved kind) {
  switch (kind) {
  case Resolved::Constant:
    return importConstant(node);
  case Resolved::ConstantOfShape:
    return importConstantOfShape(node);
  case Resolved::Range:
    return importRange(node);
  case Resolved::Shape:
  case Resolved::Size:
    return importShape(node);
  case Resolved::Identity:
    return SmallVector<Imported>{*node.input(0)};
  case Resolved::Cast:
  case Resolved::CastLike:
    return importCast(node);
  case Resolved::MatMul:
    return importMatMul(node);
  default:
    return importSequence(node, kind);
  }
}

/// A bias of zeros adds nothing: exporters make one for each Conv without bias.
static bool isZeroBias(const OpSchema::FormalParameter &formal, const Imported &input) {
  return (formal.GetName() == "B" || formal.GetName() == "C") && formal.GetOption() == OpSchema::Optional && input.constant &&
         input.constant->isFloat() && llvm::all_of(input.constant->floats, [](double x) { return x == 0; });
}

bool NodeImporter::readInputs(const Node &node, StringRef op, SmallVector<SmallVector<Imported>> &groups,
                              SmallVectorImpl<NamedAttribute> &attributes) {
  ArrayRef<StringAttr> declared = graph::attributeNames(context, op);
  const auto &formals = node.schema.inputs();
  bool complete = true;
  for (size_t i = 0; i < formals.size(); ++i) {
    const OpSchema::FormalParameter &formal = formals[i];
    StringAttr name = StringAttr::get(context, formal.GetName());
    SmallVector<Imported> group;
    for (size_t k = i; k < node.inputs.size() && (k == i || formal.GetOption() == OpSchema::Variadic); ++k)
      if (const Imported *input = node.inputs[k]; input && !isZeroBias(formal, *input))
        group.push_back(*input);
    if (llvm::any_of(group, [](const Imported &input) { return !input.isTensor(); })) {
      fail(node, "input '" + formal.GetName() + "' is a sequence");
      complete = false;
    } else if (!llvm::is_contained(declared, name)) {
      groups.push_back(std::move(group));
    } else if (!group.empty()) {
      if (!group[0].constant) {
        fail(node, "input '" + formal.GetName() + "' must be a constant, but it depends on the model's inputs or parameters");
        complete = false;
      } else if (Attribute fitted = fitAttribute(context, op, name, AttributeValue{group[0].hostTensor(), false})) {
        attributes.emplace_back(name, fitted);
      } else {
        fail(node, "input '" + formal.GetName() + "' has a type or shape that is not supported");
        complete = false;
      }
    }
  }
  return complete;
}

bool NodeImporter::readAttributes(const Node &node, StringRef op, SmallVectorImpl<NamedAttribute> &attributes) {
  ArrayRef<StringAttr> declared = graph::attributeNames(context, op);
  auto put = [&](const AttributeProto &proto) {
    StringAttr name = StringAttr::get(context, proto.name());
    auto value = readAttribute(context, proto, external, log);
    Attribute fitted = value ? fitAttribute(context, op, name, *value) : Attribute();
    if (!fitted)
      fail(node, "attribute '" + proto.name() + "' has a value that is not supported");
    else
      attributes.emplace_back(name, fitted);
    return static_cast<bool>(fitted);
  };
  bool complete = true;
  for (const AttributeProto &proto : node.proto.attribute()) {
    if (llvm::is_contained(declared, StringAttr::get(context, proto.name()))) {
      complete &= put(proto);
      continue;
    }
    auto known = node.schema.attributes().find(proto.name());
    if (known == node.schema.attributes().end() || !sameAttribute(known->second.default_value, proto)) {
      fail(node, "attribute '" + proto.name() + "' is not supported");
      complete = false;
    }
  }
  // Defaults as the model's opset has them.
  for (const auto &[name, attribute] : node.schema.attributes())
    if (!node.attribute(name) && attribute.default_value.has_type() &&
        attribute.default_value.type() != AttributeProto::UNDEFINED &&
        llvm::is_contained(declared, StringAttr::get(context, name)))
      complete &= put(attribute.default_value);
  Builder b(context);
  auto si64 = [&](int64_t value) { return b.getIntegerAttr(b.getIntegerType(64, true), value); };
  if (llvm::is_contained(declared, b.getStringAttr("opset")))
    attributes.push_back(b.getNamedAttr("opset", si64(options.opset)));
  // Split-13 into equal parts says how many only by its outputs.
  bool hasCount = llvm::any_of(attributes, [](NamedAttribute a) { return a.getName() == "num_outputs" || a.getName() == "split"; });
  if (!hasCount && llvm::is_contained(declared, b.getStringAttr("num_outputs")))
    attributes.push_back(b.getNamedAttr("num_outputs", si64(node.proto.output_size())));
  return complete;
}

NodeImporter::Results NodeImporter::importOperator(const Node &node) {
  std::string op = operatorName(node.proto.op_type());
  SmallVector<SmallVector<Imported>> groups;
  SmallVector<NamedAttribute> attributes;
  bool inputs = readInputs(node, op, groups, attributes);
  if (!readAttributes(node, op, attributes) || !inputs)
    return std::nullopt;
  if (std::optional<unsigned> segments = operandSegments(context, op)) {
    for (size_t i = *segments; i < groups.size(); ++i)
      if (!groups[i].empty())
        return fail(node, "input '" + node.schema.inputs()[i].GetName() + "' is not supported");
    groups.resize(*segments);
  }
  auto results = emitter.emit(node.loc, op, groups, attributes);
  if (mlir::failed(results))
    return std::nullopt;
  return std::move(*results);
}

void NodeImporter::bindOutputs(const Node &node, MutableArrayRef<Imported> results) {
  for (int i = 0; i < node.proto.output_size(); ++i) {
    const std::string &name = node.proto.output(i);
    // Outputs that we do not have are an error only where something reads them: there the value is missing.
    if (name.empty() || i >= static_cast<int>(results.size()))
      continue;
    if (results[i].isTensor() && !checkedSize(results[i].type().getShape())) {
      fail(node, "output '" + name + "' would have more than 2^40 elements");
      continue;
    }
    auto known = inferred.find(name);
    if (results[i].isTensor() && known != inferred.end() && known->second.shape &&
        results[i].type().getShape() != ArrayRef<int64_t>(*known->second.shape)) {
      auto text = [](ArrayRef<int64_t> shape) {
        std::string out;
        for (int64_t extent : shape)
          out += (out.empty() ? "" : "x") + std::to_string(extent);
        return "[" + out + "]";
      };
      fail(node, "output '" + name + "' has the shape " + text(results[i].type().getShape()) + " here, but " +
                     text(*known->second.shape) + " by ONNX's shape inference");
      continue;
    }
    bind(name, std::move(results[i]));
  }
}

std::optional<std::vector<int64_t>> NodeImporter::constantInts(const Node &node, size_t i) {
  const Imported *input = node.input(i);
  if (input && input->constant && !input->constant->isFloat())
    return input->hostTensor().ints;
  fail(node, "input " + Twine(i) + " must be an integer constant" +
                 (input && input->value ? ", but it depends on the model's inputs or parameters" : ""));
  return std::nullopt;
}

} // namespace halftone::onnx_frontend
