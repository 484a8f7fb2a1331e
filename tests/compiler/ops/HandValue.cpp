// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/ops/HandValue.h"
#include <gtest/gtest.h>

namespace halftone::test {

void checkHandValues(llvm::ArrayRef<HandValue> rows) {
  for (const HandValue &hand : rows) {
    SCOPED_TRACE(std::string(hand.row.name) + " {" + hand.row.attributes + "}");
    expectNear(resultOf(hand.row, hand.operands), hand.result);
  }
}

void checkHandGradients(llvm::ArrayRef<HandGradient> rows) {
  for (const HandGradient &hand : rows) {
    SCOPED_TRACE(std::string(hand.row.name) + " {" + hand.row.attributes + "}");
    BuiltOp built(hand.row);
    ASSERT_TRUE(built.op) << built.message;
    for (auto [k, operand] : llvm::enumerate(hand.operands))
      built.set(static_cast<unsigned>(k), operand);
    auto gradients = built.gradients(hand.dy);
    ASSERT_EQ(gradients.size(), hand.gradients.size());
    for (auto [actual, expected] : llvm::zip_equal(gradients, hand.gradients))
      expectNear(actual.floats, expected);
  }
}

} // namespace halftone::test
