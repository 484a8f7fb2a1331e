// SPDX-License-Identifier: Apache-2.0
// ONNX attributes, and constant inputs, in the form that an operator of ours
// declares.
#pragma once
#include "compiler/interfaces/HostTensor.h"
#include "frontends/onnx/TensorData.h"
#include <variant>

namespace halftone::onnx_frontend {

struct AttributeValue {
  std::variant<std::monostate, std::vector<int64_t>, std::vector<double>,
               std::vector<std::string>, HostTensor>
      value;
  bool isList = false;
};

/// nullopt and an error in `log` for kinds that no operator here has (graphs,
/// types, sparse tensors).
std::optional<AttributeValue>
readAttribute(mlir::MLIRContext *context, const onnx::AttributeProto &attribute,
              ExternalData &external, DiagnosticLog &log);

/// The form of `value` that the attribute `name` of `graph.OP` accepts; null if
/// none.
mlir::Attribute fitAttribute(mlir::MLIRContext *context, llvm::StringRef op,
                             llvm::StringRef name, const AttributeValue &value);

/// Equal in type and value (numbers and strings only).
bool sameAttribute(const onnx::AttributeProto &a,
                   const onnx::AttributeProto &b);

/// How many operand groups `graph.OP` has if its operands are segmented;
/// nullopt where they are not.
std::optional<unsigned> operandSegments(mlir::MLIRContext *context,
                                        llvm::StringRef op);

} // namespace halftone::onnx_frontend
