// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::graph {

LogicalResult ModOp::evaluate(ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  bool sameSignAsDividend = getFmod();
  if (operands[0].isFloat())
    return evaluateElementwise<2>(
        *this, operands, results, [&](double a, double b) {
          double r = std::fmod(a, b);
          return !sameSignAsDividend && r != 0 && (r < 0) != (b < 0) ? r + b
                                                                     : r;
        });
  if (llvm::is_contained(operands[1].ints, 0))
    return emitOpError("divides an integer by zero");
  return evaluateElementwise<2>(
      *this, operands, results, [&](int64_t a, int64_t b) {
        int64_t r = b == -1 ? 0 : a % b;
        return !sameSignAsDividend && r != 0 && (r < 0) != (b < 0) ? r + b : r;
      });
}

Value ModOp::emitScalar(ScalarBuilder &b, ValueRange x) {
  Value r = b.rem(x[0], x[1]);
  if (getFmod())
    return r;
  Value zero = b.constantLike(r, 0);
  Value differs = b.xori(b.compare(Compare::Less, r, zero),
                         b.compare(Compare::Less, x[1], zero));
  Value wrong = b.andi(b.compare(Compare::NotEqual, r, zero), differs);
  return b.select(wrong, b.add(r, x[1]), r);
}

// y = a - b q with q constant almost everywhere; (a - y) / b is that q.
SmallVector<Value> ModOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  if (!isa<FloatType>(elementTypeOf(getC())))
    return {Value(), Value()};
  Value quotient = b.create<DivOp>(b.create<SubOp>(getA(), getC()), getB());
  return {grads[0], b.create<NegOp>(b.create<MulOp>(grads[0], quotient))};
}

} // namespace halftone::graph
