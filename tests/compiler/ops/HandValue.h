// SPDX-License-Identifier: Apache-2.0
// A row of a table of results that are known beforehand.
#pragma once
#include "tests/compiler/ops/OpCase.h"

namespace halftone::test {

struct HandValue {
  OpCase row;
  std::vector<std::vector<double>> operands;
  std::vector<double> result; ///< of result 0
};

/// Expects the evaluation of every row to give its result.
void checkHandValues(llvm::ArrayRef<HandValue> rows);

/// As HandValue, with the gradients of the operands for gradient `dy` of
/// result 0; an empty list where none flows.
struct HandGradient {
  OpCase row;
  std::vector<std::vector<double>> operands;
  std::vector<double> dy;
  std::vector<std::vector<double>> gradients;
};
void checkHandGradients(llvm::ArrayRef<HandGradient> rows);

} // namespace halftone::test
