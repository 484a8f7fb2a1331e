// SPDX-License-Identifier: Apache-2.0
// Colours, written onto the ops.
#include "compiler/graph/Origin.h"
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

/// Ops that canonicalization made between the phases carry no origin: they
/// belong where what they read belongs. Backward ops also take over whose
/// gradient they are.
void completeOrigins(Block &block) {
  constexpr llvm::StringLiteral kLater[] = {"optimizer", "backward", "loss"};
  for (Operation &op : block) {
    if (!isa<PrecisionOpInterface>(op) || op.hasAttr(kOrigin))
      continue;
    Operation *source = nullptr;
    for (StringRef origin : kLater)
      for (Value v : op.getOperands())
        if (Operation *producer = v.getDefiningOp();
            !source && producer && originOf(producer) == origin)
          source = producer;
    Builder b(op.getContext());
    std::string name = nodeName(&op);
    StringRef gradient = name;
    if (source) {
      for (StringRef attribute :
           {kOrigin, kGradOf, kGradOfClass, kGenerated, kNamespace})
        if (Attribute value = source->getAttr(attribute);
            value && !op.hasAttr(attribute))
          op.setAttr(attribute, value);
    } else if (gradient.consume_front("grad of ")) {
      op.setAttr(kOrigin, b.getStringAttr("backward"));
      op.setAttr(kGradOf, b.getStringAttr(gradient));
    } else {
      op.setAttr(kOrigin, b.getStringAttr("forward"));
    }
  }
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
  completeOrigins(program.getBody().front());
  Decisions decisions;
  colorForward(program, options.precision, *wishes, decisions);
  colorBackward(program, options.precision, *wishes, decisions);
  bool joint = false;
  for (Operation &op : program.getBody().front()) {
    joint |= originOf(&op) == "backward";
    if (!isa<PrecisionOpInterface>(op))
      continue;
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
