// SPDX-License-Identifier: Apache-2.0
// Turns the nodes of a checked and inlined graph into ops, in order.
#pragma once
#include "frontends/onnx/Attributes.h"
#include "frontends/onnx/Emitter.h"
#include "frontends/onnx/InferTypes.h"
#include "frontends/onnx/Operators.h"
#include "onnx/defs/schema.h"

namespace halftone::onnx_frontend {

struct NodeOptions {
  int64_t opset = 0;
  bool keepCasts = false;
};

class NodeImporter {
public:
  NodeImporter(mlir::MLIRContext *context, Emitter &emitter,
               const llvm::StringMap<InferredType> &inferred,
               ExternalData &external, DiagnosticLog &log, NodeOptions options)
      : context(context), emitter(emitter), inferred(inferred),
        external(external), log(log), options(options) {}

  void bind(llvm::StringRef name, Imported value);
  /// Null for a value whose node failed.
  const Imported *find(llvm::StringRef name) const;

  /// Errors go to `log`; nodes that depend on a failed one are passed over.
  void importNode(const onnx::NodeProto &node);

  /// Casts between float types that were left out.
  unsigned droppedCasts() const { return dropped; }
  /// Names of the nodes that failed, not counting those that depend on them.
  llvm::ArrayRef<std::string> failedNodes() const { return failed; }

private:
  /// What is known about the node at hand.
  struct Node {
    const onnx::NodeProto &proto;
    const onnx::OpSchema &schema;
    mlir::Location loc;
    /// By position; null for absent optional inputs.
    llvm::SmallVector<const Imported *> inputs;

    const Imported *input(size_t i) const {
      return i < inputs.size() ? inputs[i] : nullptr;
    }
    const onnx::AttributeProto *attribute(llvm::StringRef name) const;
    int64_t integer(llvm::StringRef name, int64_t otherwise) const;
  };
  using Results = std::optional<llvm::SmallVector<Imported>>;

  Results dispatch(const Node &node);
  Results importResolved(const Node &node, Resolved kind);
  void bindOutputs(const Node &node, llvm::MutableArrayRef<Imported> results);
  bool verifyResult(const Node &node, llvm::StringRef name,
                    const Imported &result);

  // OperatorNodes.cpp
  using Attributes = llvm::SmallVector<mlir::NamedAttribute>;
  Results importOperator(const Node &node);
  bool readInputs(const Node &node, llvm::StringRef op,
                  llvm::SmallVector<llvm::SmallVector<Imported>> &groups,
                  Attributes &attributes);
  bool addConstantInput(const Node &node, llvm::StringRef op,
                        const std::string &name, const Imported &input,
                        Attributes &attributes);
  bool readAttributes(const Node &node, llvm::StringRef op,
                      Attributes &attributes);
  bool addAttribute(const Node &node, llvm::StringRef op,
                    const onnx::AttributeProto &proto, Attributes &attributes);
  /// What ONNX says by other means: the opset, the number of outputs.
  void addImplied(const Node &node,
                  llvm::function_ref<bool(llvm::StringRef)> isDeclared,
                  Attributes &attributes);

  // Constants.cpp
  Results importConstant(const Node &node);
  Results importConstantOfShape(const Node &node);
  Results importRange(const Node &node);
  Results importShape(const Node &node);
  // Casts.cpp
  Results importCast(const Node &node);
  Results castTo(const Node &node, mlir::Type type);
  Results importMatMul(const Node &node);
  // Sequences.cpp
  Results importSequence(const Node &node, Resolved kind);
  Results splitToSequence(const Node &node);
  Results concatFromSequence(const Node &node);

  /// The integers of a constant input; nullopt and an error where it is none.
  std::optional<std::vector<int64_t>> constantInts(const Node &node,
                                                   size_t input);
  Results fail(const Node &node, const llvm::Twine &why);
  Results fromFailureOr(llvm::FailureOr<Imported> result);

  mlir::MLIRContext *context;
  Emitter &emitter;
  const llvm::StringMap<InferredType> &inferred;
  ExternalData &external;
  DiagnosticLog &log;
  NodeOptions options;
  llvm::StringMap<Imported> values;
  std::vector<std::string> failed;
  unsigned dropped = 0;
};

} // namespace halftone::onnx_frontend
