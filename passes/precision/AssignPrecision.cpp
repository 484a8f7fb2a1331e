// SPDX-License-Identifier: Apache-2.0
// Colours, written onto the ops.
#include "passes/autodiff/OriginTagger.h"
#include "passes/precision/ColorBackward.h"
#include "passes/precision/ColorForward.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

void write(Operation *op, const Decision &decision) {
  Builder b(op->getContext());
  Color color = decision.color;
  if (isLow(color) && computesWide(op)) {
    op->setAttr(kStored, b.getStringAttr(colorName(color)));
    color = Color::Fp32;
  }
  op->setAttr(kColor, b.getStringAttr(colorName(color)));
  op->setAttr(kRule, b.getStringAttr(decision.rule));
  op->setAttr(kSource, b.getStringAttr(decision.source));
  SmallVector<StringRef> path(decision.path.begin(), decision.path.end());
  op->setAttr(kPath, b.getStrArrayAttr(path));
  if (decision.wideResult)
    op->setAttr(kWideResult, b.getUnitAttr());
}

} // namespace

StringRef colorName(Color color) {
  switch (color) {
  case Color::Fp32:
    return "fp32";
  case Color::Tf32:
    return "tf32";
  case Color::Fp16:
    return "fp16";
  case Color::Bf16:
    return "bf16";
  }
  return "";
}

std::optional<Color> parseColor(StringRef name) {
  for (Color color : {Color::Fp32, Color::Tf32, Color::Fp16, Color::Bf16})
    if (name == colorName(color))
      return color;
  return std::nullopt;
}

FloatType colorType(Color color, MLIRContext *context) {
  Builder b(context);
  return color == Color::Fp16   ? b.getF16Type()
         : color == Color::Bf16 ? b.getBF16Type()
                                : b.getF32Type();
}

std::optional<ColorEntry> parseColorEntry(StringRef text) {
  auto [pattern, name] = text.rsplit('=');
  auto color = parseColor(name);
  if (pattern.empty() || !color)
    return std::nullopt;
  return ColorEntry{pattern.str(), *color};
}

LogicalResult assignPrecision(ProgramOp program,
                              const PrecisionOptions &options) {
  auto wishes = Wishes::resolve(program, options);
  if (failed(wishes))
    return failure();
  Decisions decisions;
  colorForward(program, options.precision, *wishes, decisions);
  colorBackward(program, options.precision, *wishes, decisions);
  bool joint = false;
  for (Operation &op : program.getBody().front()) {
    joint |= originOf(&op) == "backward";
    if (!isa<PrecisionOpInterface>(op))
      continue;
    if (!op.hasAttr(kOrigin))
      op.setAttr(kOrigin, StringAttr::get(op.getContext(), "forward"));
    if (auto it = decisions.find(&op); it != decisions.end()) {
      write(&op, it->second);
      continue;
    }
    op.setAttr(kColor, StringAttr::get(op.getContext(), ""));
    op.setAttr(kRule, StringAttr::get(op.getContext(), rule::kUntouched));
  }
  // A program without gradients may lack what a pattern is meant for.
  if (joint)
    for (const std::string &pattern : wishes->unmatched())
      program.emitWarning("--color: no node matches '") << pattern << "'";
  return success();
}

} // namespace halftone::passes
