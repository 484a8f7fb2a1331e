// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/precision/Precision.h"

namespace halftone::passes {

/// The colour of the op's edges that assignPrecision wrote; nullopt for ops
/// without one.
std::optional<Color> colorOf(mlir::Operation *op);

/// The float type in which a coloured program's op wants this operand: its
/// colour's, or f32 for wide nodes, for operands that an op keeps wide, for
/// single-valued constants, and for whatever leaves the program. nullopt: it
/// takes any.
std::optional<mlir::FloatType> wantedType(mlir::OpOperand &operand);

} // namespace halftone::passes
