// SPDX-License-Identifier: Apache-2.0
// Index arithmetic as canonical sums, so that equal indices are recognised as
// equal, divisions of known ranges disappear, and strides can be read off. Also
// numbers any value, equal ones alike.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <map>
#include <optional>

namespace halftone::codegen {

/// constant + sum of coefficient * atom; atoms ascending, no coefficient is 0.
struct IndexForm {
  llvm::SmallVector<std::pair<unsigned, int64_t>, 4> terms;
  int64_t constant = 0;

  bool isConstant() const { return terms.empty(); }
  int64_t coefficient(unsigned atom) const;
  bool operator==(const IndexForm &other) const {
    return constant == other.constant && terms == other.terms;
  }
  bool operator<(const IndexForm &other) const {
    return constant != other.constant ? constant < other.constant
                                      : terms < other.terms;
  }
};

IndexForm operator+(const IndexForm &a, const IndexForm &b);
IndexForm operator*(const IndexForm &a, int64_t factor);
IndexForm operator-(const IndexForm &a, const IndexForm &b);

/// Inclusive bounds; kUnbounded stands for "unknown".
struct IndexRange {
  static constexpr int64_t kUnbounded = int64_t(1) << 62;
  int64_t min = -kUnbounded, max = kUnbounded;
};

/// The forms of all index values of one kernel. Values must outlive the object.
class IndexForms {
public:
  /// An atom is an opaque value (a loop's variable, an index read from memory)
  /// or the quotient of a form by a constant.
  struct Atom {
    mlir::Value value; ///< Null for a quotient.
    IndexForm dividend;
    int64_t divisor = 0;
    IndexRange range;
  };

  /// Form of a value of type `index`. Unsigned division and remainder by
  /// constants become quotient atoms where the dividend cannot be negative.
  IndexForm of(mlir::Value index);
  /// Declares the bounds of a value before its first use, and makes it opaque.
  void setRange(mlir::Value index, int64_t min, int64_t max);
  IndexRange range(const IndexForm &form) const;
  /// Quotient of a form that is not negative.
  IndexForm divide(const IndexForm &form, int64_t divisor);

  /// Equal for values that are certainly equal: index values by their form,
  /// pure operations by their operands.
  unsigned number(mlir::Value v);
  unsigned number(const IndexForm &form);

  /// Emits the form. Reuses nothing; LLVM hoists and shares.
  mlir::Value materialize(mlir::OpBuilder &b, mlir::Location loc,
                          const IndexForm &form);

  const Atom &atom(unsigned id) const { return atoms[id]; }
  unsigned atomOf(mlir::Value opaque);

  /// Whether the op is index arithmetic that `of` sees through.
  static bool isLinear(mlir::Operation *op);

private:
  IndexForm compute(mlir::Value index);
  IndexForm quotientAtom(const IndexForm &form, int64_t divisor);
  IndexForm asForm(unsigned atom) const;

  /// A summand of a form: coefficient * form, the form being an atom or the
  /// remainder (x div d) mod m, whose two terms one by one do not show that it
  /// is less than m.
  struct Part {
    int64_t coefficient;
    IndexForm form;
    IndexRange range;        ///< Of the form.
    int64_t modulus = 0;     ///< m, of a remainder,
    IndexForm dividend = {}; ///< and x div d.
  };
  struct Parts {
    llvm::SmallVector<Part, 4> summands;
    int64_t constant;

    IndexRange range() const;
  };
  /// The form as a sum with as many remainders as it holds.
  Parts partsOf(const IndexForm &form) const;
  std::optional<Part> remainderIn(const IndexForm &form) const;
  /// Takes the multiples of `divisor` from a form: they are divided, the rest
  /// is what remains.
  std::pair<IndexForm, IndexForm> split(const IndexForm &form,
                                        int64_t divisor) const;

  std::vector<Atom> atoms;
  llvm::DenseMap<mlir::Value, IndexForm> forms;
  llvm::DenseMap<unsigned, unsigned> opaqueAtoms; ///< Value number to atom.
  std::map<std::pair<IndexForm, int64_t>, unsigned> quotients;
  std::map<IndexForm, unsigned> formNumbers;
  std::map<std::vector<const void *>, unsigned> operationNumbers;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  llvm::DenseMap<mlir::Value, IndexRange> ranges;
  unsigned nextNumber = 0;
};

} // namespace halftone::codegen
