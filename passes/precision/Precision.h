// SPDX-License-Identifier: Apache-2.0
// Colours: the arithmetic of every node of the joint graph, and the casts that
// follow from it. A colour is the type of a node's arithmetic; what is stored
// is a property of the edge.
#pragma once
#include "compiler/graph/GraphDialect.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::passes {

enum class Color { Fp32, Tf32, Fp16, Bf16 };

llvm::StringRef colorName(Color color);
std::optional<Color> parseColor(llvm::StringRef name);
/// Whether results of this colour are stored in 16 bits.
inline bool isLow(Color color) {
  return color == Color::Fp16 || color == Color::Bf16;
}
/// The element type that results of this colour are stored in.
mlir::FloatType colorType(Color color, mlir::MLIRContext *context);

/// Attributes of a coloured op. Ops without floats have an empty colour.
inline constexpr llvm::StringLiteral kColor =
    "color"; ///< fp32 | tf32 | fp16 | bf16
inline constexpr llvm::StringLiteral kRule =
    "rule"; ///< a name of namespace rule
inline constexpr llvm::StringLiteral kSource =
    "source"; ///< default | policy | user | derived
inline constexpr llvm::StringLiteral kPath =
    "path"; ///< names of the nodes that decided
/// On an op whose arithmetic is f32 but whose edges are low (batch
/// normalization): the type of its edges.
inline constexpr llvm::StringLiteral kStored = "stored";
/// On a product of low colour: its result stays f32 (weight gradients).
inline constexpr llvm::StringLiteral kWideResult = "wide_result";
/// On a cast that the user wants as it is.
inline constexpr llvm::StringLiteral kPinned = "pinned";

/// Why a node has its colour.
namespace rule {
inline constexpr llvm::StringLiteral kAllow = "allow"; ///< on the allow list
inline constexpr llvm::StringLiteral kDeny = "deny";   ///< on the deny list
inline constexpr llvm::StringLiteral kDenyUpstream =
    "deny-upstream"; ///< behind a denied node; path: from there
inline constexpr llvm::StringLiteral kConstantRange =
    "constant-range"; ///< a constant operand does not fit the low type
inline constexpr llvm::StringLiteral kBetween =
    "between-allow"; ///< path: an allow node before, one behind
inline constexpr llvm::StringLiteral kJoined =
    "joined"; ///< clear, connected to a low node; path: to it
inline constexpr llvm::StringLiteral kNotBetween =
    "not-between-allow"; ///< infer, no low node on one side
inline constexpr llvm::StringLiteral kNoLow =
    "no-low-neighbour"; ///< clear, no low node around
inline constexpr llvm::StringLiteral kByName = "color"; ///< --color
inline constexpr llvm::StringLiteral kUntouched =
    "untouched"; ///< never coloured: integers, random numbers
inline constexpr llvm::StringLiteral kPrecision =
    "precision"; ///< the plan has no low type
inline constexpr llvm::StringLiteral kLoss = "loss";
inline constexpr llvm::StringLiteral kOptimizer = "optimizer";
inline constexpr llvm::StringLiteral kGradient =
    "gradient"; ///< as the node it is the gradient of; path: that node
inline constexpr llvm::StringLiteral kReduction =
    "gradient-reduction"; ///< sums in f32, reads what is stored, denies nobody
inline constexpr llvm::StringLiteral kSum =
    "gradient-sum"; ///< sum over several uses: low where its readers are
inline constexpr llvm::StringLiteral kParameterGradient =
    "parameter-gradient"; ///< only a parameter's gradient reads it
inline constexpr llvm::StringLiteral kWeightGradient =
    "weight-gradient"; ///< low product whose result stays f32
inline constexpr llvm::StringLiteral kCast = "cast";
inline constexpr llvm::StringLiteral kPinnedCast = "pinned-cast";
} // namespace rule

/// Moves an operator (ONNX name or mnemonic) to another list.
struct ListEntry {
  std::string op;
  PrecisionClass list;
  std::string source = "user";
};

/// Colours the nodes whose name or namespace matches; the last match counts.
struct ColorEntry {
  std::string pattern;
  Color color;
  std::string source = "user";
};

/// "REGEX=fp16", split at the last '='; nullopt where there is none or the
/// colour is unknown.
std::optional<ColorEntry> parseColorEntry(llvm::StringRef text);

struct PrecisionOptions {
  Color precision = Color::Fp32;
  std::vector<ListEntry> lists;
  std::vector<ColorEntry> colors;
};

/// Needs: a program whose floats are f32 (forward, or forward and backward).
/// Leaves: every op that computes with the attributes above; types unchanged.
/// Refuses unknown operators, an operator on two lists, bad patterns.
llvm::LogicalResult assignPrecision(graph::ProgramOp program,
                                    const PrecisionOptions &options);

/// Needs: assignPrecision. Leaves: results typed by their colour, at most one
/// cast per value and type, right behind the producer; program outputs,
/// assigned values and gradients f32. A program without low colours is not
/// changed.
llvm::LogicalResult insertCasts(graph::ProgramOp program,
                                const PrecisionOptions &options);

/// What insertCasts leaves: every op coloured, types as the colours say.
/// Diagnostics at the ops.
llvm::LogicalResult verifyPrecision(graph::ProgramOp program);

struct PrecisionReport {
  int64_t casts = 0;
  double productFlops = 0, lowProductFlops = 0;
  std::vector<std::string> notices; ///< one line each

  /// Share of the products' operations that run in the low type; 1 where there
  /// are none.
  double lowShare() const {
    return productFlops == 0 ? 1 : lowProductFlops / productFlops;
  }
};

/// Of a program with casts inserted.
PrecisionReport reportPrecision(graph::ProgramOp program);

} // namespace halftone::passes
