// SPDX-License-Identifier: Apache-2.0
// Bounds of index arithmetic, for every value that the index can take.
#include "compiler/codegen/IndexForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace halftone::codegen {
namespace {

class IndexFormsTest : public testing::Test {
protected:
  IndexFormsTest() {
    context.loadDialect<arith::ArithDialect>();
    index = module->getBody()->addArgument(builder.getIndexType(), loc);
    forms.setRange(index, 0, kSize - 1);
    builder.setInsertionPointToEnd(module->getBody());
  }

  static constexpr int64_t kSize = 4 * 6 * 5 * 3;

  Value constant(int64_t value) {
    return builder.create<arith::ConstantIndexOp>(loc, value);
  }
  Value div(Value x, int64_t by) {
    return builder.create<arith::DivUIOp>(loc, x, constant(by));
  }
  Value rem(Value x, int64_t by) {
    return builder.create<arith::RemUIOp>(loc, x, constant(by));
  }
  Value mul(Value x, int64_t by) {
    return builder.create<arith::MulIOp>(loc, x, constant(by));
  }
  Value add(Value x, Value y) {
    return builder.create<arith::AddIOp>(loc, x, y);
  }

  void expectRange(Value value, int64_t min, int64_t max) {
    IndexRange range = forms.range(forms.of(value));
    EXPECT_EQ(range.min, min);
    EXPECT_EQ(range.max, max);
  }

  void expectSame(Value a, Value b) { EXPECT_TRUE(forms.of(a) == forms.of(b)); }

  MLIRContext context;
  OpBuilder builder{&context};
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  Value index;
  IndexForms forms;
};

TEST_F(IndexFormsTest, RemainderOfTheIndex) {
  expectRange(rem(index, 15), 0, 14);
  expectRange(mul(rem(index, 15), 7), 0, 98);
}

TEST_F(IndexFormsTest, RemainderOfAQuotient) {
  expectRange(rem(div(index, 15), 6), 0, 5);
  expectRange(mul(rem(div(index, 15), 6), 7), 0, 35);
}

TEST_F(IndexFormsTest, CoordinatesInAnotherOrder) {
  // [4, 6, 5, 3] delinearized, then linearized as [3, 6, 5, 4].
  Value turned = add(
      add(mul(rem(index, 3), 6 * 5 * 4), mul(rem(div(index, 15), 6), 5 * 4)),
      add(mul(rem(div(index, 3), 5), 4), div(index, 90)));
  expectRange(turned, 0, kSize - 1);
  // So its own quotient is the coordinate that it was made of.
  expectSame(div(turned, 6 * 5 * 4), rem(index, 3));
  expectSame(rem(div(turned, 5 * 4), 6), rem(div(index, 15), 6));
  expectSame(rem(div(turned, 4), 5), rem(div(index, 3), 5));
  expectSame(rem(turned, 4), div(index, 90));
  // And turned back it is the index.
  expectSame(add(add(mul(rem(turned, 4), 90), mul(rem(div(turned, 20), 6), 15)),
                 add(mul(rem(div(turned, 4), 5), 3), div(turned, 120))),
             index);
}

TEST_F(IndexFormsTest, QuotientOfARemainder) {
  expectSame(div(rem(index, 30), 5), rem(div(index, 5), 6));
  expectSame(div(rem(div(index, 3), 20), 4), rem(div(index, 12), 5));
}

TEST_F(IndexFormsTest, PaddedRows) {
  Value padded = add(mul(div(index, 15), 16), rem(index, 15));
  expectRange(padded, 0, 23 * 16 + 14);
  expectSame(div(padded, 16), div(index, 15));
  expectSame(rem(padded, 16), rem(index, 15));
}

TEST_F(IndexFormsTest, CoordinatesLinearizedAgainCancel) {
  expectSame(add(mul(div(index, 15), 15), rem(index, 15)), index);
}

// The offset in a large transposed matrix is a sum of parts that wrap around in
// 32 bits, though the whole does not: none may be marked as one that cannot.
TEST_F(IndexFormsTest, PartsBeyond31BitsMayWrap) {
  auto marked = [&](int64_t coefficient) {
    Value offset = forms.materialize(
        builder, loc,
        forms.of(index) * coefficient + forms.of(div(index, 6)) * -coefficient);
    auto sum = offset.getDefiningOp<arith::AddIOp>();
    auto product = sum.getLhs().getDefiningOp<arith::MulIOp>();
    auto nsw = arith::IntegerOverflowFlags::nsw;
    return std::pair(product.getOverflowFlags() == nsw,
                     sum.getOverflowFlags() == nsw);
  };
  EXPECT_EQ(marked(1000), std::pair(true, true));
  EXPECT_EQ(marked(int64_t(1) << 30), std::pair(false, false));
}

} // namespace
} // namespace halftone::codegen
