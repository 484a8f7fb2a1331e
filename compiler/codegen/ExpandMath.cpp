// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/ExpandMath.h"
#include "compiler/codegen/ElementaryFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

bool may(arith::FastMathFlags flags, arith::FastMathFlags flag) {
  return arith::bitEnumContainsAll(flags, flag);
}

/// The product that may be fused into a sum: nothing else reads it, so that no
/// result is computed twice in two ways (Pull sees to readers in other passes).
arith::MulFOp fusable(Value v) {
  auto product = v.getDefiningOp<arith::MulFOp>();
  return product && product->hasOneUse() &&
                 may(product.getFastmath(), arith::FastMathFlags::contract)
             ? product
             : arith::MulFOp();
}

/// x*y + z, x*y - z and z - x*y with one rounding.
void fuseMultiplyAdd(Operation *op) {
  if (!isa<arith::AddFOp, arith::SubFOp>(op) ||
      !may(cast<arith::ArithFastMathInterface>(op)
               .getFastMathFlagsAttr()
               .getValue(),
           arith::FastMathFlags::contract))
    return;
  bool isSub = isa<arith::SubFOp>(op);
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto negated = [&](Value v) -> Value {
    return isSub ? b.create<arith::NegFOp>(v) : v;
  };
  Value left = op->getOperand(0), right = op->getOperand(1), fused;
  arith::MulFOp first = fusable(left), second = fusable(right);
  arith::MulFOp product = first ? first : second;
  if (!product)
    return;
  if (first)
    fused =
        b.create<math::FmaOp>(first.getLhs(), first.getRhs(), negated(right));
  else
    fused =
        b.create<math::FmaOp>(negated(second.getLhs()), second.getRhs(), left);
  op->getResult(0).replaceAllUsesWith(fused);
  op->erase();
  product->erase();
}

/// Contraction has been decided; what LLVM may still do is reassociate our own
/// accumulators.
void keepOnlyReassociation(Operation *op) {
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!fast || !fast.getFastMathFlagsAttr())
    return;
  auto kept =
      fast.getFastMathFlagsAttr().getValue() & arith::FastMathFlags::reassoc;
  op->setAttr(fast.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(op->getContext(), kept));
}

Value expand(Operation *op, ImplicitLocOpBuilder &b) {
  ElementaryFunctions f(b);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp o) { return f.exp(o.getOperand()); })
      .Case([&](math::ExpM1Op o) { return f.expm1(o.getOperand()); })
      .Case([&](math::LogOp o) { return f.log(o.getOperand()); })
      .Case([&](math::Log1pOp o) { return f.log1p(o.getOperand()); })
      .Case([&](math::TanhOp o) { return f.tanh(o.getOperand()); })
      .Case([&](math::ErfOp o) { return f.erf(o.getOperand()); })
      .Case([&](math::SinOp o) { return f.sin(o.getOperand()); })
      .Case([&](math::CosOp o) { return f.cos(o.getOperand()); })
      .Case([&](math::PowFOp o) { return f.pow(o.getLhs(), o.getRhs()); })
      .Case(
          [&](arith::RemFOp o) { return f.remainder(o.getLhs(), o.getRhs()); })
      .Default([](Operation *) { return Value(); });
}

} // namespace

LogicalResult expandMath(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<arith::AddFOp, arith::SubFOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    fuseMultiplyAdd(op);
  ops.clear();
  module.walk([&](Operation *op) {
    if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (op->getNumResults() != 1 || !op->getResult(0).getType().isF32()) {
      keepOnlyReassociation(op);
      continue;
    }
    ImplicitLocOpBuilder b(op->getLoc(), op);
    if (Value expanded = expand(op, b)) {
      op->getResult(0).replaceAllUsesWith(expanded);
      op->erase();
      continue;
    }
    keepOnlyReassociation(op);
  }
  return success();
}

} // namespace halftone::codegen
