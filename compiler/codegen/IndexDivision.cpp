// SPDX-License-Identifier: Apache-2.0
// Bounds and quotients of index forms. Both look at a form as a sum of
// remainders, the coordinates that a linear index was divided into: so indices
// that put coordinates in another order divide exactly, too.
#include "compiler/codegen/IndexForms.h"
#include <numeric>

using namespace mlir;

namespace halftone::codegen {
namespace {

int64_t saturate(__int128 v) {
  return static_cast<int64_t>(
      std::clamp<__int128>(v, -IndexRange::kUnbounded, IndexRange::kUnbounded));
}

int64_t floorDiv(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

} // namespace

std::optional<IndexForms::Part>
IndexForms::remainderIn(const IndexForm &form) const {
  std::optional<Part> found;
  int64_t fine = 0, coarse = 0;
  auto consider = [&](const IndexForm &part, int64_t divisor, int64_t k,
                      unsigned id) {
    int64_t whole = atoms[id].divisor;
    bool isFiner =
        !found || divisor < fine || (divisor == fine && whole < coarse);
    if (k <= 0 || whole % divisor != 0 || whole == divisor || !isFiner)
      return;
    fine = divisor;
    coarse = whole;
    int64_t modulus = whole / divisor;
    int64_t most = std::min(range(part).max, modulus - 1);
    found = {k, part - asForm(id) * modulus, {0, most}, modulus, part};
  };
  for (auto [id, c] : form.terms) {
    const Atom &whole = atoms[id];
    if (whole.value)
      continue;
    for (auto [other, k] : form.terms)
      if (!atoms[other].value && atoms[other].dividend == whole.dividend)
        consider(asForm(other), atoms[other].divisor, k, id);
    auto [first, want] = whole.dividend.terms.front();
    int64_t k = form.coefficient(first) / want;
    if (llvm::all_of(whole.dividend.terms, [&](auto term) {
          return form.coefficient(term.first) == term.second * k;
        }))
      consider(whole.dividend, 1, k, id);
  }
  return found;
}

IndexForms::Parts IndexForms::partsOf(const IndexForm &form) const {
  SmallVector<Part, 4> parts;
  IndexForm rest = form;
  while (auto remainder = remainderIn(rest)) {
    rest = rest - remainder->form * remainder->coefficient;
    parts.push_back(std::move(*remainder));
  }
  for (auto [id, c] : rest.terms)
    parts.push_back({c, asForm(id), atoms[id].range});
  return {std::move(parts), rest.constant};
}

IndexRange IndexForms::Parts::range() const {
  __int128 min = constant, max = constant;
  for (const Part &part : summands) {
    auto bound = [&](int64_t end) -> __int128 {
      if (end <= -IndexRange::kUnbounded || end >= IndexRange::kUnbounded)
        return (end > 0) == (part.coefficient > 0) ? IndexRange::kUnbounded
                                                   : -IndexRange::kUnbounded;
      return __int128(end) * part.coefficient;
    };
    __int128 a = bound(part.range.min), b = bound(part.range.max);
    min = saturate(min + std::min(a, b));
    max = saturate(max + std::max(a, b));
  }
  return {saturate(min), saturate(max)};
}

IndexRange IndexForms::range(const IndexForm &form) const {
  Parts terms{{}, form.constant};
  for (auto [id, c] : form.terms)
    terms.summands.push_back({c, asForm(id), atoms[id].range});
  IndexRange byTerm = terms.range(), byPart = partsOf(form).range();
  return {std::max(byTerm.min, byPart.min), std::min(byTerm.max, byPart.max)};
}

std::pair<IndexForm, IndexForm> IndexForms::split(const IndexForm &form,
                                                  int64_t divisor) const {
  IndexForm quotient;
  for (auto [id, c] : form.terms)
    if (c % divisor == 0)
      quotient.terms.push_back({id, c / divisor});
  quotient.constant = floorDiv(form.constant, divisor);
  IndexForm rest = form - quotient * divisor;
  IndexRange r = range(rest);
  if (r.min >= 0 && r.max < divisor)
    return {quotient, rest};
  Parts parts = partsOf(form);
  IndexForm byPart;
  for (const Part &part : parts.summands)
    if (part.coefficient % divisor == 0)
      byPart = byPart + part.form * (part.coefficient / divisor);
  byPart.constant += floorDiv(parts.constant, divisor);
  IndexForm restByPart = form - byPart * divisor;
  IndexRange rByPart = range(restByPart);
  bool isBetter = rByPart.min >= 0 && (r.min < 0 || rByPart.max < r.max);
  return isBetter ? std::pair(byPart, restByPart) : std::pair(quotient, rest);
}

IndexForm IndexForms::divide(const IndexForm &form, int64_t divisor) {
  if (divisor == 1)
    return form;
  auto [quotient, rest] = split(form, divisor);
  IndexRange r = range(rest);
  if (r.min < 0) // The split is only exact for a rest that is no less than 0:
                 // divide the whole.
    return quotientAtom(form, divisor);
  if (r.max < divisor)
    return quotient;
  return quotient + quotientAtom(rest, divisor);
}

IndexForm IndexForms::quotientAtom(const IndexForm &form, int64_t divisor) {
  Parts parts = partsOf(form);
  // (g*x + y) div (g*d) is x div d where 0 <= y < g.
  int64_t best = 1;
  for (const Part &part : parts.summands)
    best = std::max(best, std::gcd(part.coefficient, divisor));
  if (best > 1 && best < divisor) {
    auto [large, small] = split(form, best);
    IndexRange r = range(small);
    if (r.min >= 0 && r.max < best && range(large).min >= 0)
      return divide(large, divisor / best);
  }
  if (form.constant == 0 && parts.summands.size() == 1 &&
      parts.summands[0].coefficient == 1) {
    const Part &only = parts.summands[0];
    const Atom &inner = atoms[form.terms[0].first];
    // (y mod m) div d is (y div d) mod (m div d) where d divides m.
    if (only.modulus != 0 && only.modulus % divisor == 0)
      return divide(only.dividend, divisor) -
             divide(only.dividend, only.modulus) * (only.modulus / divisor);
    // (x div a) div b is x div (a*b).
    if (only.modulus == 0 && !inner.value)
      return divide(IndexForm(inner.dividend), inner.divisor * divisor);
  }
  auto [it, isNew] = quotients.try_emplace({form, divisor}, atoms.size());
  if (isNew) {
    IndexRange r = range(form);
    atoms.push_back(
        {Value(),
         form,
         divisor,
         {std::max<int64_t>(0, r.min) / divisor,
          r.max >= IndexRange::kUnbounded ? r.max : r.max / divisor}});
  }
  return asForm(it->second);
}

} // namespace halftone::codegen
