// SPDX-License-Identifier: Apache-2.0
// The facets of an operator as MLIR op interfaces; generated from
// Interfaces.td, which documents them.
#pragma once
#include "compiler/interfaces/HostTensor.h"
#include "compiler/interfaces/PrecisionClass.h"
#include "compiler/interfaces/ScalarBuilder.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"

#include "compiler/interfaces/Interfaces.h.inc"
