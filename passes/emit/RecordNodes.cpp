// SPDX-License-Identifier: Apache-2.0
#include "passes/emit/RecordNodes.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

std::string text(Operation *op, StringRef attribute) {
  auto value = op->getAttrOfType<StringAttr>(attribute);
  return value ? value.getValue().str() : "";
}

bool isFloatCast(Operation *op) {
  return isa<CastOp>(op) && isa<FloatType>(elementTypeOf(op->getOperand(0))) &&
         isa<FloatType>(elementTypeOf(op->getResult(0)));
}

/// What is stored: the result's type, or the one narrower type that all users
/// read it in.
Type storedType(Value v) {
  Type type = elementTypeOf(v);
  if (v.use_empty() || !llvm::all_of(v.getUsers(), isFloatCast))
    return type;
  Type read = elementTypeOf((*v.user_begin())->getResult(0));
  bool same = llvm::all_of(v.getUsers(), [&](Operation *user) {
    return elementTypeOf(user->getResult(0)) == read;
  });
  return same && read.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth()
             ? read
             : type;
}

/// Gives every value a name: its node's, numbered where a node has several
/// results or several ops share the node.
class ValueNames {
public:
  std::string unique(const std::string &name) {
    int &count = used[name];
    return count++ ? name + "#" + std::to_string(count - 1) : name;
  }
  void define(Operation *op, const std::string &node) {
    for (OpResult result : op->getResults())
      names[result] =
          op->getNumResults() == 1
              ? node
              : node + ":" + std::to_string(result.getResultNumber());
  }
  void define(Value v, std::string name) { names[v] = std::move(name); }
  std::string of(Value v) const { return names.lookup(v); }

private:
  std::map<std::string, int> used;
  llvm::DenseMap<Value, std::string> names;
};

void recordCast(Operation *op, const ValueNames &names,
                const llvm::DenseMap<Operation *, std::string> &nodes,
                proto::Plan &plan) {
  proto::Cast &cast = *plan.add_casts();
  cast.set_value(names.of(op->getOperand(0)));
  cast.set_from(typeName(elementTypeOf(op->getOperand(0))));
  cast.set_to(typeName(elementTypeOf(op->getResult(0))));
  for (Operation *user : op->getUsers())
    if (auto it = nodes.find(user); it != nodes.end())
      cast.add_consumers(it->second);
}

} // namespace

std::string typeName(Type type) {
  if (type.isF32())
    return "fp32";
  if (type.isF16())
    return "fp16";
  if (type.isBF16())
    return "bf16";
  if (type.isInteger(1))
    return "bool";
  return type.isUnsignedInteger()
             ? "uint" + std::to_string(type.getIntOrFloatBitWidth())
             : "int" + std::to_string(type.getIntOrFloatBitWidth());
}

void recordNodes(ProgramOp program, proto::Plan &plan) {
  ValueNames names;
  llvm::DenseMap<Operation *, std::string> nodes;
  auto isNode = [](Operation *op) {
    return isa<ReferenceOpInterface>(op) && !isa<ConstantOp, PackOp>(op) &&
           !isFloatCast(op);
  };
  for (Operation &op : program.getBody().front()) {
    if (auto name = op.getAttrOfType<StringAttr>("name"))
      for (Value result : op.getResults())
        names.define(result, name.getValue().str());
    else if (isFloatCast(&op))
      names.define(op.getResult(0), names.of(op.getOperand(0)));
    else if (isNode(&op))
      names.define(&op, nodes[&op] = names.unique(nodeName(&op)));
  }
  for (Operation &op : program.getBody().front()) {
    if (isFloatCast(&op)) {
      recordCast(&op, names, nodes, plan);
      continue;
    }
    if (!isNode(&op))
      continue;
    proto::Node &node = *plan.add_nodes();
    node.set_name(nodes[&op]);
    node.set_op(op.getName().stripDialect().str());
    node.set_color(text(&op, "color"));
    node.set_stored(op.getNumResults() ? typeName(storedType(op.getResult(0)))
                                       : "");
    node.set_rule(text(&op, "rule"));
    node.set_source(text(&op, "source"));
    if (auto path = op.getAttrOfType<ArrayAttr>("path"))
      for (auto entry : path.getAsRange<StringAttr>())
        node.add_path(entry.getValue().str());
    node.set_origin(text(&op, kOrigin));
    node.set_name_space(text(&op, kNamespace));
    for (Value v : op.getOperands())
      if (std::string name = names.of(v); !name.empty())
        node.add_inputs(name);
    for (Value v : op.getResults())
      node.add_outputs(names.of(v));
    if (auto library = dyn_cast<LibraryOpInterface>(op))
      node.set_flops(library.getFlops());
  }
}

} // namespace halftone::passes
