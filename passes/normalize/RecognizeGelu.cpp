// SPDX-License-Identifier: Apache-2.0
#include "passes/normalize/RecognizeGelu.h"
#include "compiler/graph/Constants.h"
#include "compiler/graph/GraphOps.h"
#include <cmath>

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); }

/// A tree of multiplications (and divisions by constants) as one constant times
/// some factors.
struct Product {
  double constant = 1;
  SmallVector<Value> factors;

  static Product of(Value v, int depth = 6) {
    Product p;
    p.collect(v, depth);
    return p;
  }
  /// Removes one occurrence of `v`.
  bool take(Value v) {
    auto it = llvm::find(factors, v);
    if (it == factors.end())
      return false;
    factors.erase(it);
    return true;
  }

private:
  void collect(Value v, int depth) {
    if (auto number = splatValue(v)) {
      constant *= *number;
      return;
    }
    if (auto mul = v.getDefiningOp<MulOp>(); mul && depth) {
      collect(mul.getA(), depth - 1);
      collect(mul.getB(), depth - 1);
      return;
    }
    if (auto div = v.getDefiningOp<DivOp>(); div && depth)
      if (auto number = splatValue(div.getB())) {
        collect(div.getA(), depth - 1);
        constant /= *number;
        return;
      }
    factors.push_back(v);
  }
};

/// The other term where `v` is an addition with a term for which `is` holds.
template <typename Fn> Value otherTerm(Value v, Fn is) {
  auto add = v.getDefiningOp<AddOp>();
  if (!add)
    return {};
  if (is(add.getA()))
    return add.getB();
  return is(add.getB()) ? add.getA() : Value();
}

bool isOne(Value v) {
  auto number = splatValue(v);
  return number && *number == 1;
}

/// Whether `v` is 0.044715 x^3, as a power or as products.
bool isCubicTerm(Value v, Value x) {
  Product p = Product::of(v);
  if (!near(p.constant, 0.044715))
    return false;
  if (p.factors.size() == 1)
    if (auto pow = p.factors[0].getDefiningOp<PowOp>()) {
      auto exponent = splatValue(pow.getOperand(1));
      return pow.getOperand(0) == x && exponent && *exponent == 3;
    }
  return p.factors.size() == 3 &&
         llvm::all_of(p.factors, [&](Value f) { return f == x; });
}

/// What `argument` of erf or tanh is the gelu argument of; null if it is none.
/// `x` is known.
bool isErfArgument(Value argument, Value x) {
  Product p = Product::of(argument);
  return p.factors.size() == 1 && p.factors[0] == x &&
         near(p.constant, std::sqrt(0.5));
}
bool isTanhArgument(Value argument, Value x) {
  Product p = Product::of(argument);
  if (p.factors.size() != 1 || !near(p.constant, std::sqrt(2 / M_PI)))
    return false;
  Value rest = otherTerm(p.factors[0], [&](Value term) { return term == x; });
  return rest && isCubicTerm(rest, x);
}

struct ChainToGelu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    Product p = Product::of(op);
    if (p.factors.size() != 2 || !near(p.constant, 0.5))
      return failure();
    for (Value factor : llvm::to_vector(p.factors)) {
      Value inner = otherTerm(factor, isOne);
      Operation *curve = inner ? inner.getDefiningOp() : nullptr;
      if (!isa_and_nonnull<ErfOp, TanhOp>(curve))
        continue;
      Value x = p.factors[0] == factor ? p.factors[1] : p.factors[0];
      bool erf = isa<ErfOp>(curve);
      if (!(erf ? isErfArgument(curve->getOperand(0), x)
                : isTanhArgument(curve->getOperand(0), x)))
        continue;
      auto gelu = rewriter.create<GeluOp>(
          op.getLoc(), x, rewriter.getStringAttr(erf ? "none" : "tanh"));
      gelu->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      rewriter.replaceOp(op, gelu);
      return success();
    }
    return failure();
  }
};

} // namespace

void populateGeluPatterns(RewritePatternSet &patterns) {
  patterns.add<ChainToGelu>(patterns.getContext());
}

} // namespace halftone::passes
