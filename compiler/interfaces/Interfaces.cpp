// SPDX-License-Identifier: Apache-2.0
#include "compiler/interfaces/Interfaces.h"

#include "compiler/interfaces/Interfaces.cpp.inc"
