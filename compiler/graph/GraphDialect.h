// SPDX-License-Identifier: Apache-2.0
// The graph dialect and the ops that frame a program; operators are in
// GraphOps.h.
#pragma once
#include "compiler/graph/BroadcastShape.h"
#include "compiler/graph/Reduce.h"
#include "compiler/interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/graph/GraphDialect.h.inc"

#define GET_OP_CLASSES
#include "compiler/graph/ops/Program.h.inc"
