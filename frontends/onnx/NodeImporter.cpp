// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/NodeImporter.h"
#include "frontends/onnx/Signature.h"
#include "frontends/onnx/TensorData.h"
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

static std::string describe(const NodeProto &node) {
  return "node '" + node.name() + "' (" + node.op_type() + ")";
}

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
  const OpSchema *schema = onnx::OpSchemaRegistry::Schema(
      proto.op_type(), static_cast<int>(options.opset), "");
  Node node{
      proto, *schema, NameLoc::get(StringAttr::get(context, proto.name())), {}};
  for (const std::string &input : proto.input()) {
    const Imported *value = input.empty() ? nullptr : find(input);
    if (!input.empty() && !value)
      return; // Its node failed; one error is enough.
    node.inputs.push_back(value);
  }
  Builder b(context);
  SmallVector<NamedAttribute> marks{
      b.getNamedAttr("origin", b.getStringAttr("forward"))};
  if (std::vector<std::string> scopes = moduleScopes(proto); !scopes.empty())
    marks.push_back(
        b.getNamedAttr("namespace", b.getStringAttr(scopes.back())));
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

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return "[" + text + "]";
}

/// Whether an operator may read a tensor without elements that is computed when
/// training: those that move elements, and thus may have none to move.
static bool acceptsNothing(StringRef op) {
  constexpr StringLiteral kMoves[] = {
      "Cast",     "CastLike", "Concat",    "Expand",   "Flatten", "Gather",
      "Identity", "Pad",      "Reshape",   "Shape",    "Size",    "Slice",
      "Split",    "Squeeze",  "Transpose", "Unsqueeze"};
  return llvm::is_contained(kMoves, op);
}

NodeImporter::Results NodeImporter::dispatch(const Node &node) {
  for (const Imported *input : node.inputs)
    if (input && input->value && input->type().getNumElements() == 0 &&
        !acceptsNothing(node.proto.op_type()))
      return fail(node, "input '" + input->name + "' has the shape " +
                            shapeText(input->type().getShape()) +
                            ", which has no elements to compute with");
  const auto &formals = node.schema.inputs();
  for (size_t i = 0;
       i < formals.size() && formals[i].GetOption() == OpSchema::Single; ++i)
    if (!node.input(i))
      return fail(node, "input '" + formals[i].GetName() + "' is missing");
  if (!formals.empty() && formals.back().GetOption() == OpSchema::Variadic &&
      llvm::is_contained(node.inputs, nullptr))
    return fail(node, "an input is missing");
  if (std::optional<Resolved> kind = resolvedOperator(node.proto.op_type()))
    return importResolved(node, *kind);
  return importOperator(node);
}

NodeImporter::Results NodeImporter::importResolved(const Node &node,
                                                   Resolved kind) {
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

bool NodeImporter::verifyResult(const Node &node, StringRef name,
                                const Imported &result) {
  if (!result.isTensor())
    return true;
  ArrayRef<int64_t> shape = result.type().getShape();
  if (!checkedSize(shape)) {
    fail(node, "output '" + name + "' would have more than 2^40 elements");
    return false;
  }
  auto known = inferred.find(name);
  if (known != inferred.end() && result.value && known->second.onnxType &&
      !canBeStored(known->second.onnxType)) {
    fail(node, "output '" + name + "' would be " +
                   typeName(known->second.onnxType) +
                   ", which a plan cannot hold: use int32 or int64");
    return false;
  }
  if (known == inferred.end() || !known->second.shape ||
      shape == ArrayRef<int64_t>(*known->second.shape))
    return true;
  fail(node, "output '" + name + "' has the shape " + shapeText(shape) +
                 " here, but " + shapeText(*known->second.shape) +
                 " by ONNX's shape inference");
  return false;
}

void NodeImporter::bindOutputs(const Node &node,
                               MutableArrayRef<Imported> results) {
  // Outputs beyond our results are an error only where something reads them:
  // there the value is missing.
  size_t count = std::min<size_t>(node.proto.output_size(), results.size());
  bool verified = true;
  for (size_t i = 0; i < count; ++i) {
    const std::string &name = node.proto.output(static_cast<int>(i));
    if (name.empty())
      continue;
    if (verifyResult(node, name, results[i]))
      bind(name, std::move(results[i]));
    else
      verified = false;
  }
  if (!verified)
    failed.push_back(node.proto.name());
}

std::optional<std::vector<int64_t>> NodeImporter::constantInts(const Node &node,
                                                               size_t i) {
  const Imported *input = node.input(i);
  if (input && input->constant && !input->constant->isFloat())
    return input->hostTensor().ints;
  fail(node, "input " + Twine(i) + " must be an integer constant" +
                 (input && input->value
                      ? ", but it depends on the model's inputs or parameters"
                      : ""));
  return std::nullopt;
}

} // namespace halftone::onnx_frontend
