// SPDX-License-Identifier: Apache-2.0
// Local functions: their size is bounded first, then ONNX's inliner replaces
// the calls.
#include "frontends/onnx/Operators.h"
#include "frontends/onnx/VerifyModel.h"
#include "onnx/checker.h"
#include "onnx/inliner/inliner.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using onnx::FunctionProto, onnx::ModelProto, onnx::NodeProto;

namespace halftone::onnx_frontend {
namespace {

constexpr int64_t kMostNodes = 1'000'000;

std::string idOf(const FunctionProto &function) {
  return function.domain() + "." + function.name();
}
std::string calleeOf(const NodeProto &node) {
  return node.domain() + "." + node.op_type();
}

/// How many nodes the calls come to. Functions do not call themselves (checked
/// before).
class InlinedSize {
public:
  explicit InlinedSize(const ModelProto &model) {
    for (const FunctionProto &function : model.functions())
      functions[idOf(function)] = &function;
  }

  int64_t of(const google::protobuf::RepeatedPtrField<NodeProto> &nodes) {
    int64_t sum = 0;
    for (const NodeProto &node : nodes) {
      auto found = functions.find(calleeOf(node));
      sum = std::min(kMostNodes + 1,
                     sum + (found == functions.end()
                                ? 1
                                : ofFunction(found->first(), *found->second)));
    }
    return sum;
  }

private:
  int64_t ofFunction(llvm::StringRef id, const FunctionProto &function) {
    if (auto known = sizes.find(id); known != sizes.end())
      return known->second;
    int64_t size = of(function.node());
    sizes[id] = size;
    return size;
  }

  llvm::StringMap<const FunctionProto *> functions;
  llvm::StringMap<int64_t> sizes;
};

/// Reports calls with more inputs or outputs than their function has. Fewer are
/// none that is given.
class CallCheck {
public:
  CallCheck(const ModelProto &model, DiagnosticLog &log) : log(log) {
    for (const FunctionProto &function : model.functions())
      functions[idOf(function)] = &function;
  }

  void visit(const google::protobuf::RepeatedPtrField<NodeProto> &nodes,
             const std::string &within) {
    for (const NodeProto &node : nodes) {
      auto found = functions.find(calleeOf(node));
      if (found == functions.end())
        continue;
      const FunctionProto &callee = *found->second;
      compare(node, within, "input", node.input_size(), callee.input_size());
      compare(node, within, "output", node.output_size(), callee.output_size());
    }
  }

private:
  void compare(const NodeProto &node, const std::string &within,
               const std::string &kind, int given, int declared) {
    if (given > declared)
      log.error("node '" + node.name() + "'" + within + " calls function " +
                calleeOf(node) + " with " + counted(given, kind) +
                ", but the function has " + std::to_string(declared));
  }

  DiagnosticLog &log;
  llvm::StringMap<const FunctionProto *> functions;
};

/// One error a function that is still called.
void reportLeft(const ModelProto &model, DiagnosticLog &log) {
  std::map<std::string, std::vector<std::string>> calls;
  for (const NodeProto &node : model.graph().node())
    if (!isOnnxDomain(node.domain()))
      calls[calleeOf(node)].push_back(node.name());
  for (const FunctionProto &function : model.functions()) {
    auto found = calls.find(idOf(function));
    if (found == calls.end())
      continue;
    std::string why;
    for (const auto &opset : function.opset_import())
      for (const auto &own : model.opset_import())
        if (opset.version() != own.version() &&
            (opset.domain() == own.domain() ||
             (isOnnxDomain(opset.domain()) && isOnnxDomain(own.domain()))))
          why = ": it imports opset " + std::to_string(opset.version()) +
                " and the model " + std::to_string(own.version()) +
                "; export both with the same opset";
    log.error("function " + found->first + " (called by " +
              joinNames(found->second) + ") cannot be inlined" + why);
  }
}

} // namespace

bool inlineFunctions(ModelProto &model, DiagnosticLog &log) {
  if (model.functions().empty())
    return true;
  CallCheck calls(model, log);
  calls.visit(model.graph().node(), "");
  for (const FunctionProto &function : model.functions())
    calls.visit(function.node(), " in function " + function.name());
  if (log.hasErrors())
    return false;
  try {
    onnx::checker::check_function_call_cycles(model);
    if (InlinedSize(model).of(model.graph().node()) > kMostNodes) {
      log.error("with its functions inlined the model has more than " +
                std::to_string(kMostNodes) + " nodes");
      return false;
    }
    onnx::inliner::InlineLocalFunctions(model);
  } catch (const std::exception &refusal) {
    log.error(llvm::Twine("the model's functions cannot be inlined: ") +
              firstParagraph(refusal.what()));
    return false;
  }
  reportLeft(model, log);
  return !log.hasErrors();
}

} // namespace halftone::onnx_frontend
