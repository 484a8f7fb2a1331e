// SPDX-License-Identifier: Apache-2.0
#include "compiler/exec/ExecOps.h"

using namespace mlir;
using namespace halftone::exec;

#include "compiler/exec/ExecDialect.cpp.inc"
#include "compiler/exec/ExecInterfaces.cpp.inc"

void ExecDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/exec/ExecOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "compiler/exec/ExecOps.cpp.inc"
