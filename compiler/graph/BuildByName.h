// SPDX-License-Identifier: Apache-2.0
// Builds an operator from its name, as importers do that know no operator.
#pragma once
#include "compiler/graph/GraphDialect.h"

namespace halftone::graph {

/// The snake_case op name of an ONNX operator ("LayerNormalization" ->
/// "layer_normalization", "GatherND" -> "gather_nd").
std::string snakeCase(llvm::StringRef onnxName);

/// Whether `graph.NAME` exists.
bool isOperator(mlir::MLIRContext *context, llvm::StringRef name);

/// Names of the op's attributes as declared (empty for an unknown op).
llvm::ArrayRef<mlir::StringAttr> attributeNames(mlir::MLIRContext *context,
                                                llvm::StringRef name);

/// Creates `graph.NAME`: defaults are filled in, result types inferred, the op
/// verified. Errors are emitted at `loc`: unknown name, operands that are
/// missing or too many, shapes or attribute values that do not fit.
/// `operandGroups` gives one entry a formal operand (an absent optional one is
/// empty), so that optional and variadic operands keep their places.
llvm::FailureOr<mlir::Operation *>
buildByName(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
            llvm::ArrayRef<llvm::SmallVector<mlir::Value>> operandGroups,
            llvm::ArrayRef<mlir::NamedAttribute> attributes);

} // namespace halftone::graph
