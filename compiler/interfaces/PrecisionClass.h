// SPDX-License-Identifier: Apache-2.0
// The precision class that each operator declares: which of the four lists it
// starts in.
#pragma once
#include "mlir/IR/OpDefinition.h"

namespace halftone {

/// The lists of the colouring algorithm. "low" is FP16 or BF16, whichever the
/// plan uses.
enum class PrecisionClass {
  Allow,    ///< always low: products, where the speed is
  Infer,    ///< low when a neighbour is, wide behind a denied op
  Deny,     ///< always FP32 arithmetic
  DenyFp16, ///< Deny in FP16, Infer in BF16 (additive reductions, log,
            ///< reciprocal: the range, not the accuracy, forbids)
  Clear,    ///< no arithmetic: takes the colour of what it connects
  Untouched ///< integers, shapes, state, random bits: never coloured
};

/// Gives an op its precision class as a template argument, so that ODS can
/// state it beside the mnemonic.
template <PrecisionClass C> struct HasPrecision {
  template <typename Concrete>
  class Impl : public mlir::OpTrait::TraitBase<Concrete, Impl> {
  public:
    static PrecisionClass getPrecisionClass() { return C; }
  };
};

/// Marks an op whose results never carry a gradient.
template <typename Concrete>
class NoGradient : public mlir::OpTrait::TraitBase<Concrete, NoGradient> {};

} // namespace halftone
