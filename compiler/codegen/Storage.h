// SPDX-License-Identifier: Apache-2.0
// How elements lie in buffers and what they are in registers: floats widen to
// f32, bools and bytes are one byte.
#pragma once
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

namespace halftone::codegen {

/// Whether kernels can hold elements of this type: f32 f16 bf16 i64 i32 i16 i8
/// i1 ui8.
bool isStorable(mlir::Type elementType);
/// Element type of a buffer: i1 and ui8 lie as i8.
mlir::Type storageType(mlir::Type elementType);
/// Type of a scalar in a register: f32 for floats, i32 for ui8, else the type
/// itself.
mlir::Type scalarType(mlir::Type elementType);
/// Bytes of an element in memory.
int64_t storageBytes(mlir::Type elementType);
/// The flat buffer of a tensor.
mlir::MemRefType bufferType(mlir::RankedTensorType tensor);

/// On a load: no store of this kernel can touch the element.
inline constexpr llvm::StringLiteral kInvariant = "halftone.invariant";
/// On a load or store: iterations of the innermost loop do not depend on one
/// another through it.
inline constexpr llvm::StringLiteral kParallel = "halftone.parallel";

/// Loads element `offset` and widens it to its scalar type; f64, which only
/// arrays of kernels hold, stays.
mlir::Value loadElement(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value buffer, mlir::Value offset,
                        mlir::Type elementType, bool invariant);
/// Rounds or narrows a scalar and stores it.
void storeElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar,
                  mlir::Value buffer, mlir::Value offset,
                  mlir::Type elementType);

} // namespace halftone::codegen
