// SPDX-License-Identifier: Apache-2.0
// Marks every op that a phase builds with where it comes from, so that no rule
// has to.
#pragma once
#include "mlir/IR/Builders.h"

namespace halftone::graph {

/// Names of the attributes that follow an op through all phases.
inline constexpr llvm::StringLiteral kOrigin =
    "origin"; ///< forward | backward | loss | optimizer
inline constexpr llvm::StringLiteral kGradOf =
    "grad_of"; ///< backward: name of the node whose rule built the op
inline constexpr llvm::StringLiteral kGradOfClass =
    "grad_of_class"; ///< backward: PrecisionClass of that node, by number
inline constexpr llvm::StringLiteral kGenerated =
    "generated"; ///< backward: built by the driver ("reduction", "sum")
inline constexpr llvm::StringLiteral kNamespace =
    "namespace"; ///< module path of the exporter

/// While it lives, ops created through its builder get `attributes`, unless
/// they have them.
class OriginTagger : public mlir::OpBuilder::Listener {
public:
  explicit OriginTagger(llvm::ArrayRef<mlir::NamedAttribute> attributes = {})
      : attributes(attributes) {}
  explicit OriginTagger(mlir::NamedAttribute attribute)
      : attributes{attribute} {}
  void setAttributes(llvm::ArrayRef<mlir::NamedAttribute> list) {
    attributes.assign(list.begin(), list.end());
  }
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint) override {
    for (mlir::NamedAttribute attribute : attributes)
      if (!op->hasAttr(attribute.getName()))
        op->setAttr(attribute.getName(), attribute.getValue());
  }

private:
  llvm::SmallVector<mlir::NamedAttribute> attributes;
};

/// The ONNX node name of an op: its NameLoc, or the op's mnemonic where it has
/// none.
std::string nodeName(mlir::Operation *op);

} // namespace halftone::graph
