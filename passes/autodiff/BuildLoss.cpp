// SPDX-License-Identifier: Apache-2.0
#include "passes/autodiff/BuildLoss.h"
#include "compiler/graph/BuildByName.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

constexpr std::pair<LossKind, llvm::StringLiteral> kNames[] = {
    {LossKind::CrossEntropy, "cross_entropy"},
    {LossKind::Mse, "mse"},
    {LossKind::L1, "l1"},
    {LossKind::BceWithLogits, "bce_with_logits"},
    {LossKind::Output, "output"}};

std::string typeText(Value v) {
  std::string text;
  llvm::raw_string_ostream(text) << '[';
  for (auto [i, extent] : llvm::enumerate(shapeOf(v)))
    llvm::raw_string_ostream(text) << (i ? "," : "") << extent;
  return text + "]";
}

std::string listOutputs(ArrayRef<OutputOp> outputs) {
  std::string text;
  for (OutputOp output : outputs)
    text += (text.empty() ? "" : ", ") + output.getName().str() + " " +
            typeText(output.getValue());
  return text.empty() ? "none" : text;
}

/// The float output called `wanted`, or the only one where that is empty.
FailureOr<OutputOp> chooseOutput(ProgramOp program, StringRef wanted) {
  SmallVector<OutputOp> floats;
  for (OutputOp output : program.getBody().getOps<OutputOp>())
    if (isa<FloatType>(elementTypeOf(output.getValue())))
      floats.push_back(output);
  if (!wanted.empty()) {
    for (OutputOp output : floats)
      if (output.getName() == wanted)
        return output;
    return program.emitError("the model has no float output '")
           << wanted << "'; it has " << listOutputs(floats);
  }
  if (floats.size() != 1)
    return program.emitError("the loss could read any of ")
           << floats.size() << " float outputs (" << listOutputs(floats)
           << "): name one with --logits OUTPUT";
  return floats.front();
}

/// The input of a trailing activation that the loss contains itself (softmax,
/// log_softmax, sigmoid), or the value.
Value beforeActivation(Value value, LossKind kind,
                       std::vector<std::string> &notices) {
  Operation *op = value.getDefiningOp();
  bool drop =
      (kind == LossKind::CrossEntropy &&
       isa_and_nonnull<SoftmaxOp, LogSoftmaxOp>(op)) ||
      (kind == LossKind::BceWithLogits && isa_and_nonnull<SigmoidOp>(op));
  if (!drop)
    return value;
  notices.push_back("the output ends in " + nodeName(op) + " (" +
                    op->getName().stripDialect().str() +
                    "), which the loss contains: its input is used");
  return op->getOperand(0);
}

/// `labels` moved left by `shift` along the last axis; what moves in is
/// ignored.
Value shiftLabels(ImplicitLocOpBuilder &b, Value labels, int64_t shift,
                  int64_t ignoreIndex) {
  int64_t axis = rankOf(labels) - 1, length = shapeOf(labels)[axis];
  Value rest = b.create<SliceOp>(
      labels, ArrayRef<int64_t>{shift}, ArrayRef<int64_t>{length},
      b.getDenseI64ArrayAttr({axis}), b.getDenseI64ArrayAttr({1}));
  SmallVector<int64_t> shape(shapeOf(labels));
  shape[axis] = shift;
  auto type = RankedTensorType::get(shape, elementTypeOf(labels));
  Value ignored = b.create<ConstantOp>(DenseElementsAttr::get(
      type, b.getIntegerAttr(elementTypeOf(labels), ignoreIndex)));
  return b.create<ConcatOp>(ValueRange{rest, ignored}, axis);
}

InputOp inputOf(ProgramOp program, StringRef name) {
  for (InputOp input : program.getBody().getOps<InputOp>())
    if (input.getName() == name)
      return input;
  return {};
}

/// Rows of a batch: the leading dimension that all inputs share; 1 where there
/// is none.
int64_t batchRows(ProgramOp program) {
  std::optional<int64_t> rows;
  for (InputOp input : program.getBody().getOps<InputOp>())
    if (input.getKind() == "data") {
      ArrayRef<int64_t> shape = shapeOf(input.getValue());
      int64_t leading = shape.empty() ? 1 : shape.front();
      rows = !rows || *rows == leading ? leading : 1;
    }
  return rows.value_or(1);
}

/// What no loss can be built on; the data's own arrays come beside the inputs.
LogicalResult verifyData(ProgramOp program, Value value, StringRef output,
                         const LossOptions &options) {
  if (program.getBody().getOps<InputOp>().empty())
    return program.emitError(
        "the model has no input: there are no data to train it on");
  if (numElements(shapeOf(value)) == 0)
    return program.emitError("the loss reads the output '")
           << output << "' " << typeText(value) << ", which has no elements";
  if (options.kind != LossKind::Output)
    for (StringRef name : {"target", "row_weight"})
      if (inputOf(program, name) && options.targetFrom.empty() &&
          (name == "target" || options.kind != LossKind::CrossEntropy))
        return program.emitError("the model has an input '")
               << name << "', which is the name of an array of the loss ("
               << (name == "target" ? "the labels" : "the rows that count")
               << "): give the input another name when exporting";
  return success();
}

Value input(ImplicitLocOpBuilder &b, StringRef name, StringRef kind,
            ArrayRef<int64_t> shape, Type element) {
  return b.create<InputOp>(RankedTensorType::get(shape, element),
                           b.getStringAttr(name), b.getStringAttr(kind));
}

/// The loss op called `name`. The logits come from the model: it may refuse
/// them.
FailureOr<Value> checkedLoss(ImplicitLocOpBuilder &b, StringRef name,
                             ArrayRef<SmallVector<Value>> operands,
                             ArrayRef<NamedAttribute> attributes = {}) {
  auto op = buildByName(b, b.getLoc(), name, operands, attributes);
  if (failed(op))
    return failure();
  return (*op)->getResult(0);
}

/// The labels that `--target-from` names, shifted: `labelShape` integers.
FailureOr<Value> labelsFromInput(ImplicitLocOpBuilder &b, ProgramOp program,
                                 Value logits, ArrayRef<int64_t> labelShape,
                                 const LossOptions &options) {
  InputOp input = inputOf(program, options.targetFrom);
  if (!input)
    return program.emitError("--target-from: the model has no input '")
           << options.targetFrom << "'";
  Value target = input.getValue();
  if (shapeOf(target) != labelShape || options.shift < 0 ||
      options.shift > labelShape.back())
    return program.emitError("--target-from ")
           << options.targetFrom << " " << typeText(target) << " shifted by "
           << options.shift << " does not give labels for logits "
           << typeText(logits);
  auto labels = dyn_cast<IntegerType>(elementTypeOf(target));
  if (!labels || labels.getWidth() == 1)
    return program.emitError("--target-from ")
           << options.targetFrom << " holds " << elementTypeOf(target)
           << ": labels are integers";
  if (!options.shift)
    return target;
  bool fits =
      labels.isUnsigned()
          ? options.ignoreIndex >= 0 &&
                llvm::isUIntN(labels.getWidth(),
                              static_cast<uint64_t>(options.ignoreIndex))
          : llvm::isIntN(labels.getWidth(), options.ignoreIndex);
  if (!fits)
    return program.emitError("--ignore-index ")
           << options.ignoreIndex << " does not fit " << labels
           << " of --target-from " << options.targetFrom;
  return shiftLabels(b, target, options.shift, options.ignoreIndex);
}

FailureOr<Value> crossEntropy(ImplicitLocOpBuilder &b, ProgramOp program,
                              Value logits, const LossOptions &options,
                              LossResult &result) {
  int64_t rank = rankOf(logits);
  if (rank < 2)
    return program.emitError(
               "cross_entropy needs logits of rank 2 or more, got ")
           << typeText(logits);
  auto axis =
      normalizeAxis(options.classAxis.value_or(rank >= 4 ? 1 : -1), rank);
  if (failed(axis))
    return program.emitError("--class-axis ")
           << *options.classAxis << " is outside rank " << rank;
  result.classAxis = *axis;
  result.classes = shapeOf(logits)[*axis];
  SmallVector<int64_t> labelShape(shapeOf(logits));
  labelShape.erase(labelShape.begin() + *axis);
  FailureOr<Value> target =
      options.targetFrom.empty()
          ? input(b, "target", "target", labelShape, b.getI64Type())
          : labelsFromInput(b, program, logits, labelShape, options);
  if (failed(target))
    return failure();
  Type si64 = b.getIntegerType(64, /*isSigned=*/true);
  return checkedLoss(
      b, "cross_entropy", {{logits}, {*target}},
      {b.getNamedAttr("axis", b.getIntegerAttr(si64, *axis)),
       b.getNamedAttr("ignore_index",
                      b.getIntegerAttr(si64, options.ignoreIndex))});
}

/// A loss that compares `logits` with floats of the same shape.
FailureOr<Value> elementLoss(ImplicitLocOpBuilder &b, ProgramOp program,
                             Value logits, LossKind kind, bool masked) {
  Value target = input(b, "target", "target", shapeOf(logits), b.getF32Type());
  // Without a row for each sample a short batch cannot be masked; it is left
  // out.
  SmallVector<Value> weights;
  if (masked && rankOf(logits) && shapeOf(logits).front() == batchRows(program))
    weights.push_back(input(b, "row_weight", "row_weight",
                            shapeOf(logits).take_front(1), b.getF32Type()));
  StringRef name = kind == LossKind::Mse  ? "mse_loss"
                   : kind == LossKind::L1 ? "l1_loss"
                                          : "bce_with_logits_loss";
  return checkedLoss(b, name, {{logits}, {target}, weights});
}

/// The scalar output that the model itself computes as its loss.
FailureOr<Value> outputLoss(ImplicitLocOpBuilder &b, ProgramOp program,
                            Value value, StringRef name) {
  if (numElements(shapeOf(value)) != 1)
    return program.emitError("--loss output:")
           << name << " needs a scalar, got " << typeText(value);
  return rankOf(value)
             ? b.create<ReshapeOp>(value, ArrayRef<int64_t>{}).getResult()
             : value;
}

} // namespace

std::optional<LossKind> parseLossKind(StringRef name) {
  for (auto [kind, text] : kNames)
    if (name == text)
      return kind;
  return std::nullopt;
}

StringRef lossName(LossKind kind) {
  for (auto [candidate, text] : kNames)
    if (kind == candidate)
      return text;
  return "";
}

FailureOr<LossResult> buildLoss(ProgramOp program, const LossOptions &options,
                                bool masked) {
  LossResult result;
  auto output =
      chooseOutput(program, options.kind == LossKind::Output ? options.output
                                                             : options.logits);
  if (failed(output))
    return failure();
  Value value = (*output).getValue();
  if (failed(verifyData(program, value, (*output).getName(), options)))
    return failure();
  OpBuilder base(program.getContext());
  OriginTagger tagger(base.getNamedAttr(kOrigin, base.getStringAttr("loss")));
  OpBuilder builder =
      OpBuilder::atBlockEnd(&program.getBody().front(), &tagger);
  ImplicitLocOpBuilder b(NameLoc::get(builder.getStringAttr("loss")), builder);
  FailureOr<Value> loss;
  if (options.kind == LossKind::Output) {
    loss = outputLoss(b, program, value, options.output);
  } else {
    result.logits = (*output).getName().str();
    Value logits = beforeActivation(value, options.kind, result.notices);
    loss = options.kind == LossKind::CrossEntropy
               ? crossEntropy(b, program, logits, options, result)
               : elementLoss(b, program, logits, options.kind, masked);
  }
  if (failed(loss))
    return failure();
  result.loss = *loss;
  return result;
}

} // namespace halftone::passes
