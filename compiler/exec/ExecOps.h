// SPDX-License-Identifier: Apache-2.0
// The exec dialect; documented in ExecOps.td.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/exec/ExecDialect.h.inc"
#include "compiler/exec/ExecInterfaces.h.inc"

#define GET_OP_CLASSES
#include "compiler/exec/ExecOps.h.inc"
