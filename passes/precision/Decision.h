// SPDX-License-Identifier: Apache-2.0
// What colouring decides about an op, and the user's wishes resolved.
#pragma once
#include "passes/precision/Precision.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Regex.h"

namespace halftone::passes {

struct Decision {
  Color color = Color::Fp32;
  llvm::StringRef rule;
  std::string source = "derived";
  llvm::SmallVector<std::string> path;
  bool wideResult = false;
};
using Decisions = llvm::DenseMap<mlir::Operation *, Decision>;

/// The lists and patterns of the options, checked.
class Wishes {
public:
  static llvm::FailureOr<Wishes> resolve(graph::ProgramOp program,
                                         const PrecisionOptions &options);

  struct List {
    PrecisionClass list;
    std::string source;
  };
  /// The list `op` starts in: the user's, or its own with DenyFp16 resolved for
  /// `low`.
  List listOf(mlir::Operation *op, Color low) const;

  /// The colour that a pattern gives to a name or namespace.
  struct Pin {
    Color color;
    std::string source;
  };
  std::optional<Pin> pinOf(llvm::StringRef name,
                           llvm::StringRef nameSpace) const;

  /// Patterns that matched nothing so far.
  std::vector<std::string> unmatched() const;

private:
  struct Pattern {
    std::string text;
    std::shared_ptr<llvm::Regex> regex;
    Pin pin;
    std::shared_ptr<bool> matched;
  };
  llvm::StringMap<List> lists; ///< by mnemonic
  std::vector<Pattern> patterns;
};

/// "forward" where the op says nothing else.
llvm::StringRef originOf(mlir::Operation *op);
llvm::StringRef namespaceOf(mlir::Operation *op);

/// Whether the op has a precision class and reads or writes f32, f16 or bf16.
bool isColorable(mlir::Operation *op);
/// f32, f16 or bf16: what colours are about.
bool isColoredType(mlir::Type tensorType);
inline bool isColoredValue(mlir::Value v) { return isColoredType(v.getType()); }

/// A cast between floats.
bool isFloatCast(mlir::Operation *op);

/// Whether the op computes in f32 whatever its edges are: one with operands
/// that stay f32 (statistics).
bool computesWide(mlir::Operation *op);

/// Whether a finite element of the constant behind `v` overflows in `type`;
/// false where `v` is no constant.
bool overflows(mlir::Value v, mlir::FloatType type);

} // namespace halftone::passes
