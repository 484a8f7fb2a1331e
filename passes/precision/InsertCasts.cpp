// SPDX-License-Identifier: Apache-2.0
// Types the results by their colours and puts casts where an operand is wanted
// in another type.
#include "compiler/graph/Constants.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"
#include "passes/precision/Decision.h"
#include "passes/precision/OperandType.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

RankedTensorType withElement(Type type, Type element) {
  return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                               element);
}

void setElementType(OpResult result, Type element) {
  result.setType(withElement(result.getType(), element));
  if (auto cast = dyn_cast<CastOp>(result.getOwner()))
    cast.setTo(element);
}

/// The elements rounded to `type`; what is finite stays finite.
DenseElementsAttr narrowed(DenseElementsAttr values, FloatType type) {
  auto narrow = [&](const APFloat &x) {
    bool lossy;
    APFloat rounded = x;
    rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &lossy);
    if (x.isFinite() && !rounded.isFinite())
      rounded = APFloat::getLargest(type.getFloatSemantics(), x.isNegative());
    return rounded;
  };
  auto tensor = withElement(values.getType(), type);
  if (values.isSplat())
    return DenseElementsAttr::get(tensor,
                                  narrow(values.getSplatValue<APFloat>()));
  std::vector<APFloat> list;
  for (const APFloat &x : values.getValues<APFloat>())
    list.push_back(narrow(x));
  return DenseElementsAttr::get(tensor, list);
}

class CastInserter {
public:
  explicit CastInserter(ProgramOp program) : program(program) {}

  void run() {
    SmallVector<Operation *> ops =
        llvm::to_vector(llvm::make_pointer_range(program.getBody().front()));
    for (Operation *op : ops)
      typeResults(op);
    for (Operation *op : ops)
      for (OpOperand &operand : op->getOpOperands())
        if (auto wanted = wantedType(operand))
          operand.set(converted(operand.get(), *wanted));
    // Casts of the model's own that became identities, and what nobody reads
    // any more.
    for (Operation *op : llvm::reverse(ops)) {
      if (isFloatCast(op) && !op->hasAttr(kPinned) &&
          op->getOperand(0).getType() == op->getResult(0).getType())
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      if ((isFloatCast(op) || isa<ConstantOp>(op)) && op->use_empty())
        op->erase();
    }
  }

private:
  void typeResults(Operation *op) {
    auto color = colorOf(op);
    if (!color || op->hasAttr(kPinned))
      return;
    for (OpResult result : op->getResults())
      if (isColoredValue(result))
        setElementType(result, storedType(result, *color));
  }

  /// A low node stores low, a wide one f32, unless all readers want the same
  /// low type: then it rounds as it stores.
  Type storedType(OpResult result, Color color) const {
    Operation *op = result.getOwner();
    auto f32 = Float32Type::get(op->getContext());
    if (cast<PrecisionOpInterface>(op).keepsWideResult(
            result.getResultNumber()) ||
        op->hasAttr(kWideResult))
      return f32;
    if (isLow(color))
      return colorType(color, op->getContext());
    // Moves do not change the type (they may be views), nor do libraries.
    if (result.use_empty() || isa<ElementOpInterface, LibraryOpInterface>(op) ||
        isFloatCast(op))
      return f32;
    Type common;
    for (OpOperand &use : result.getUses()) {
      auto wanted = wantedType(use);
      // The logits' gradient is summed as it is; other gradients as stored.
      if (hasRule(use.getOwner(), rule::kReduction) &&
          !hasRule(op, rule::kLoss))
        continue;
      if (!wanted || wanted->isF32() || (common && common != *wanted))
        return f32;
      common = *wanted;
    }
    return common ? common : f32;
  }

  static bool hasRule(Operation *op, StringRef rule) {
    auto name = op->getAttrOfType<StringAttr>(kRule);
    return name && name.getValue() == rule;
  }

  Value converted(Value v, FloatType type) {
    if (elementTypeOf(v) == type)
      return v;
    // There and back again: the narrow value itself.
    if (Operation *op = v.getDefiningOp();
        isFloatCast(op) && !op->hasAttr(kPinned) &&
        elementTypeOf(op->getOperand(0)) == type && elementTypeOf(v).isF32())
      return op->getOperand(0);
    Value &known = casts[{v, type}];
    if (!known)
      known = convert(v, type);
    return known;
  }

  Value convert(Value v, FloatType type) {
    Operation *producer = v.getDefiningOp();
    OpBuilder b(program.getContext());
    b.setInsertionPointAfterValue(v);
    if (auto constant = dyn_cast_or_null<ConstantOp>(producer))
      if (auto values = dyn_cast<DenseElementsAttr>(constant.getValue())) {
        auto copy = b.create<ConstantOp>(v.getLoc(), narrowed(values, type));
        copy->setDiscardableAttrs(constant->getDiscardableAttrDictionary());
        return copy;
      }
    auto cast = b.create<CastOp>(v.getLoc(), v, type);
    cast->setAttr(kOrigin,
                  b.getStringAttr(producer ? originOf(producer) : "forward"));
    if (producer && producer->hasAttr(kNamespace))
      cast->setAttr(kNamespace, producer->getAttr(kNamespace));
    cast->setAttr(kColor, b.getStringAttr(type.isF16()    ? "fp16"
                                          : type.isBF16() ? "bf16"
                                                          : "fp32"));
    cast->setAttr(kRule, b.getStringAttr(rule::kCast));
    cast->setAttr(kSource, b.getStringAttr("derived"));
    cast->setAttr(kPath, b.getArrayAttr({}));
    return cast;
  }

  ProgramOp program;
  DenseMap<std::pair<Value, Type>, Value> casts;
};

bool hasLowColor(ProgramOp program) {
  return llvm::any_of(program.getBody().front(), [](Operation &op) {
    auto color = colorOf(&op);
    return color && isLow(*color);
  });
}

} // namespace

std::optional<Color> colorOf(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(kStored);
  if (!name)
    name = op->getAttrOfType<StringAttr>(kColor);
  return name && isa<PrecisionOpInterface>(op) ? parseColor(name.getValue())
                                               : std::nullopt;
}

std::optional<FloatType> wantedType(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (!isColoredValue(operand.get()))
    return std::nullopt;
  auto f32 = Float32Type::get(op->getContext());
  auto ruleName = op->getAttrOfType<StringAttr>(kRule);
  // These read any type: a comparison of widened values is the same, and a cast
  // converts what it gets.
  if (isFloatCast(op) || (ruleName && ruleName.getValue() == rule::kUntouched))
    return std::nullopt;
  auto color = colorOf(op);
  if (!color)
    return f32;
  if (!isLow(*color) ||
      cast<PrecisionOpInterface>(op).keepsWide(operand.getOperandNumber()))
    return f32;
  auto low = colorType(*color, op->getContext());
  // A single number (eps, a factor) is part of the kernel and costs nothing in
  // f32, so that it keeps its value.
  bool computes = isa<ScalarOpInterface, DecomposableOpInterface>(op) &&
                  !isa<LibraryOpInterface>(op);
  if (computes && elementTypeOf(operand.get()).isF32() &&
      splatValue(operand.get()) && !overflows(operand.get(), low))
    return f32;
  return low;
}

LogicalResult insertCasts(ProgramOp program, const PrecisionOptions &) {
  if (hasLowColor(program))
    CastInserter(program).run();
  return verifyPrecision(program);
}

} // namespace halftone::passes
