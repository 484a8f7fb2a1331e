// SPDX-License-Identifier: Apache-2.0
// All operators of the graph dialect, a family a .td.
#pragma once
#include "compiler/graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "compiler/graph/ops/Elementwise.h.inc"
#define GET_OP_CLASSES
#include "compiler/graph/ops/Logic.h.inc"
#define GET_OP_CLASSES
#include "compiler/graph/ops/Activation.h.inc"
#define GET_OP_CLASSES
#include "compiler/graph/ops/Movement.h.inc"
#define GET_OP_CLASSES
#include "compiler/graph/ops/Reduction.h.inc"
#define GET_OP_CLASSES
#include "compiler/graph/ops/Product.h.inc"
#define GET_OP_CLASSES
#include "compiler/graph/ops/Window.h.inc"
#define GET_OP_CLASSES
#include "compiler/graph/ops/Normalization.h.inc"
#define GET_OP_CLASSES
#include "compiler/graph/ops/Loss.h.inc"
#define GET_OP_CLASSES
#include "compiler/graph/ops/Random.h.inc"
