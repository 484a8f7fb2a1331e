// SPDX-License-Identifier: Apache-2.0
// The remainder x mod c is x - c * (x div c), so that delinearizing and
// linearizing again cancels term by term.
#include "compiler/codegen/IndexForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

std::optional<int64_t> constantOf(Value v) {
  APInt value;
  if (matchPattern(v, m_ConstantInt(&value)))
    return value.getSExtValue();
  return std::nullopt;
}

} // namespace

int64_t IndexForm::coefficient(unsigned atom) const {
  for (auto [id, c] : terms)
    if (id == atom)
      return c;
  return 0;
}

IndexForm operator+(const IndexForm &a, const IndexForm &b) {
  IndexForm sum;
  sum.constant = a.constant + b.constant;
  auto i = a.terms.begin(), j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    if (j == b.terms.end() || (i != a.terms.end() && i->first < j->first))
      sum.terms.push_back(*i++);
    else if (i == a.terms.end() || j->first < i->first)
      sum.terms.push_back(*j++);
    else {
      if (int64_t c = i->second + j->second)
        sum.terms.push_back({i->first, c});
      ++i, ++j;
    }
  }
  return sum;
}

IndexForm operator*(const IndexForm &a, int64_t factor) {
  IndexForm product;
  if (factor == 0)
    return product;
  product.constant = a.constant * factor;
  for (auto [id, c] : a.terms)
    product.terms.push_back({id, c * factor});
  return product;
}

IndexForm operator-(const IndexForm &a, const IndexForm &b) {
  return a + b * -1;
}

IndexForm IndexForms::asForm(unsigned atom) const {
  IndexForm form;
  form.terms.push_back({atom, 1});
  return form;
}

void IndexForms::setRange(Value index, int64_t min, int64_t max) {
  ranges[index] = {min, max};
}

unsigned IndexForms::atomOf(Value opaque) {
  auto [it, isNew] = opaqueAtoms.try_emplace(number(opaque), atoms.size());
  if (isNew) {
    auto known = ranges.find(opaque);
    atoms.push_back(
        {opaque, {}, 0, known == ranges.end() ? IndexRange() : known->second});
  }
  return it->second;
}

bool IndexForms::isLinear(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp,
             arith::RemUIOp, arith::ConstantOp>(op);
}

IndexForm IndexForms::of(Value index) {
  auto it = forms.find(index);
  if (it != forms.end())
    return it->second;
  IndexForm form = compute(index);
  forms[index] = form;
  return form;
}

IndexForm IndexForms::compute(Value index) {
  IndexForm form;
  if (auto constant = constantOf(index)) {
    form.constant = *constant;
    return form;
  }
  Operation *op = index.getDefiningOp();
  auto opaque = [&] { return asForm(atomOf(index)); };
  if (op && ranges.count(index))
    return opaque();
  if (!op) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(index.getParentBlock()->getParentOp());
    if (loop && loop.getInductionVar() == index && !ranges.count(index)) {
      auto lower = constantOf(loop.getLowerBound()),
           upper = constantOf(loop.getUpperBound());
      if (lower && upper)
        setRange(index, *lower, std::max(*lower, *upper - 1));
    }
    return opaque();
  }
  if (isa<arith::AddIOp>(op))
    return of(op->getOperand(0)) + of(op->getOperand(1));
  if (isa<arith::SubIOp>(op))
    return of(op->getOperand(0)) - of(op->getOperand(1));
  if (isa<arith::MulIOp>(op)) {
    IndexForm x = of(op->getOperand(0)), y = of(op->getOperand(1));
    if (y.isConstant())
      return x * y.constant;
    return x.isConstant() ? y * x.constant : opaque();
  }
  if (isa<arith::DivUIOp, arith::RemUIOp>(op)) {
    IndexForm x = of(op->getOperand(0)), y = of(op->getOperand(1));
    if (!y.isConstant() || y.constant <= 0 || range(x).min < 0)
      return opaque();
    IndexForm quotient = divide(x, y.constant);
    return isa<arith::DivUIOp>(op) ? quotient : x - quotient * y.constant;
  }
  return opaque();
}

unsigned IndexForms::number(const IndexForm &form) {
  auto [it, isNew] = formNumbers.try_emplace(form, nextNumber);
  nextNumber += isNew;
  return it->second;
}

unsigned IndexForms::number(Value v) {
  auto it = numbers.find(v);
  if (it != numbers.end())
    return it->second;
  unsigned result;
  Operation *op = v.getDefiningOp();
  if (op && v.getType().isIndex() && isLinear(op) && !ranges.count(v)) {
    // May meet this value again as an opaque atom (a division by a
    // non-constant): give it a number of its own first.
    numbers[v] = nextNumber++;
    result = number(of(v));
  } else if (op && op->getNumRegions() == 0 && isPure(op) && !ranges.count(v)) {
    std::vector<const void *> key{
        op->getName().getAsOpaquePointer(),
        op->getAttrDictionary().getAsOpaquePointer(),
        reinterpret_cast<const void *>(
            uintptr_t(cast<OpResult>(v).getResultNumber())),
        v.getType().getAsOpaquePointer(),
        // Equal values in different blocks stay apart: neither may dominate the
        // other.
        op->hasTrait<OpTrait::ConstantLike>() ? nullptr : op->getBlock()};
    for (Value operand : op->getOperands())
      key.push_back(reinterpret_cast<const void *>(
          uintptr_t(operand.getType().isIndex() ? number(of(operand))
                                                : number(operand))));
    auto [entry, isNew] =
        operationNumbers.try_emplace(std::move(key), nextNumber);
    nextNumber += isNew;
    result = entry->second;
  } else {
    result = nextNumber++;
  }
  numbers[v] = result;
  return result;
}

Value IndexForms::materialize(OpBuilder &b, Location loc,
                              const IndexForm &form) {
  auto constant = [&](int64_t c) -> Value {
    return b.create<arith::ConstantIndexOp>(loc, c);
  };
  // A partial sum may leave 32 bits where the whole does not, and then wraps
  // around: "no wrap" is only said as long as no part does.
  IndexForm partial;
  bool fits = true;
  auto flags = [&](const IndexForm &reached) {
    constexpr int64_t kLimit = int64_t(1) << 31;
    IndexRange r = range(reached);
    fits &= r.min >= -kLimit && r.max < kLimit;
    return fits ? arith::IntegerOverflowFlags::nsw
                : arith::IntegerOverflowFlags::none;
  };
  Value sum;
  for (auto [id, coefficient] : form.terms) {
    const Atom a = atoms[id];
    Value v =
        a.value ? a.value
                : b.create<arith::DivUIOp>(loc, materialize(b, loc, a.dividend),
                                           constant(a.divisor));
    IndexForm term = asForm(id) * coefficient;
    if (coefficient != 1)
      v = b.create<arith::MulIOp>(loc, v, constant(coefficient), flags(term));
    partial = partial + term;
    sum = sum ? b.create<arith::AddIOp>(loc, sum, v, flags(partial)) : v;
  }
  if (!sum)
    return constant(form.constant);
  return form.constant ? b.create<arith::AddIOp>(
                             loc, sum, constant(form.constant), flags(form))
                       : sum;
}

} // namespace halftone::codegen
